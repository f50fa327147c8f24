import torch

major, minor = torch.cuda.get_device_capability()
capability = torch.cuda.get_device_capability(0)
if major >= 9:
    hopper()
if 8 <= major:
    ampere()
if capability in ((9, 0), (10, 0)):
    hopper()
if capability not in [(7, 5)]:
    newer()
if torch.cuda.get_device_capability()[0] == 9:
    hopper()
if torch.cuda.get_device_capability() < (8, 0):
    raise RuntimeError("too old")
if is_sm90_or_later():
    hopper()
if has_device_capability(90):
    hopper()
if current_platform.has_device_capability(80):
    ampere()
if sm_version >= "90":
    hopper()
if capability >= limit:
    other()
if compute_capability > 8.6:
    ada()
assert major >= 8, "ampere"
fast = major >= 8 and minor == 0
print(torch.cuda.get_device_capability())
logger.info("capability %s", torch.cuda.get_device_capability())
support = "yes" if major >= 9 else "no"
tests = pytest.mark.skipif(torch.cuda.get_device_capability() < (9, 0), reason="hopper")
