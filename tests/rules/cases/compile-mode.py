import torch

a = torch.compile(f, mode="reduce-overhead")
b = torch.compile(f, mode="max-autotune-no-cudagraphs")
c = torch.compile(f, mode="default")
d = torch.compile(f, "reduce-overhead")
mode = "max-autotune"
self.mode = "max-autotune"
modes["mode"] = "max-autotune"
mode: str = "max-autotune"
options = {"mode": "reduce-overhead", "reduce-overhead": "mode"}
KNOWN = ["max-autotune", "default"]
KNOWN = ("max-autotune",)
is_on = mode == "max-autotune"
mode = "max-autotune" if fast else "default"
mode = given or "max-autotune"
assert {"mode": "max-autotune"} == options
x = table["max-autotune"]
torch._inductor.config.triton.cudagraphs = True
torch._inductor.config.triton.cudagraphs = 0
torch._inductor.config.triton.cudagraphs = None
torch._inductor.config.triton.cudagraphs = ""
torch._inductor.config.triton.cudagraphs = on
a = torch._inductor.config.triton.cudagraphs = True
torch._C._jit_set_nvfuser_enabled(True)
y = torch._C._jit_set_nvfuser_enabled(True)
z = f(mode="max-autotune"); w = f(mode="reduce-overhead")


def g(mode="max-autotune", *, other="reduce-overhead") -> "max-autotune":
    return "max-autotune"
