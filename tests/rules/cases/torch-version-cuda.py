import torch

a = int(torch.version.cuda.split(".")[0])
b = torch.version.cuda is not None
c = torch.version.cuda is None
d = not torch.version.cuda
e = torch.version.cuda
f = torch.version.cuda >= "12"
g = f"cu{torch.version.cuda}"
h = "cu" + torch.version.cuda
i = bool(torch.version.cuda)
print(torch.version.cuda)
logger.info("%s", torch.version.cuda)
assert torch.version.cuda >= "11"
assert torch.version.cuda
j = not Version(torch.version.cuda) < Version("11.8")
k = float(torch.version.cuda[:4]) > 11.0 and other
l = parse(torch.version.cuda) == parse("12")
m = torch.version.cuda == None
n = torch.version.cuda in KNOWN
o = KNOWN in torch.version.cuda
p = torch.version.cuda or "none"
q = torch.version.cuda and torch.version.cuda.split(".")
r = parse(other < torch.version.cuda < more)
s: str = torch.version.cuda
t = isinstance(torch.version.cuda, str)
if torch.version.cuda:
    u = torch.version.cuda
elif torch.version.hip:
    u = 3
if torch.version.cuda and a:
    u = 4
while torch.version.cuda is not None:
    break
v = torch.version.cuda
w = v.split(".")
if v is not None:
    x = v
y = v >= "12" or v != "11"
z = 1 if torch.version.cuda else 2
first = second = torch.version.cuda
third = second[:2]


def release(now: str = torch.version.cuda) -> str:
    return torch.version.cuda


def kinds(x: torch.version.cuda):
    print(f"{torch.version.cuda}", x.y(torch.version.cuda.z))
    fs[0](torch.version.cuda)
    {torch.version.cuda: 1}
    match = lambda: torch.version.cuda
    return match, torch.version.cuda >= "12"


def unread(x: torch.version.cuda is None, y: bool(torch.version.cuda >= "12")) -> not torch.version.cuda:
    return f"{torch.version.cuda is None} {torch.version.cuda or 3}"
