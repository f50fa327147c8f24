import torch

a = x.to(torch.float8_e4m3fn)
b = x.dtype == torch.float8_e4m3fn
c = torch.float8_e5m2 != x.dtype
d = x.dtype is torch.float8_e5m2
e = y.dtype is not torch.float8_e4m3fn
f = x.dtype == torch.float8_e4m3fn == y.dtype
g = f(x) == torch.float8_e4m3fn
h = x.dtype in (torch.float8_e4m3fn, torch.int8)
i = x.dtype not in [torch.float8_e5m2, other]
j = x.dtype in {torch.float8_e5m2}
k = (torch.float8_e5m2, 3)
l = raw.view(torch.float8_e4m3fn)
m = view(torch.float8_e4m3fn)
n = tl.float8e4nv
o = x.float8_e4m3fn
p = {torch.float8_e4m3fn: 448}
q = {torch.int8: 448.0}
fp8_max = 448
fp8_least = -448.0
limit_e5m2 = 57344.0
width = 448
e4m3_max = 448
float8_on = True
width = 448.0


def scale(dtype: torch.dtype = torch.float8_e4m3fn, top=448, float_top=448.0) -> torch.float8_e5m2:
    if top > 448:
        return 448.0
    for fp8 in range(448):
        pass
    with fp8_scope(448) as s:
        pass


class Fp8(Base, top=448):
    pass


r = [torch.float8_e4m3fn, torch.float8_e5m2] == kinds
s = x.dtype == torch.float8_e4m3fnuz
t = jnp.float8_e4m3fn
