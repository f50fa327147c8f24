if KIND == "cuda":
    a()
elif KIND == "xpu":
    b()
if self.kind == "cuda":
    a()
elif self.kind == "cpu":
    b()
elif self.kind == "mps":
    c()
if VENDOR == "cuda":
    a()
elif VENDOR == "rocm":
    b()
elif VENDOR == "xpu":
    c()
if x.my_device.kind == "cuda":
    a()
elif KIND == "xpu":
    b()
if my_device.kind == "cuda":
    a()
elif KIND == "xpu":
    b()
if f().kind == "cuda":
    a()
elif KIND == "xpu":
    b()
if device == "cuda":
    a()
elif KIND == "xpu":
    b()
if KIND != "cuda":
    a()
elif KIND == "xpu":
    b()
if KIND == "cuda" == OTHER:
    a()
elif KIND == "xpu":
    b()
if KIND == "cuda":
    a()
else:
    if KIND == "xpu":
        b()
    c()
if f() == "cuda":
    a()
elif KIND == "xpu":
    b()
if KIND == "cuda":
    a()
elif KIND == 3:
    b()
SUPPORTS_DEVICES = [DEVICE.CUDA]
SUPPORTED_DEVICES: list = (DEVICE.CUDA, DEVICE.XPU)
SUPPORTED_DEVICES = {DEVICE.CPU}
SUPPORTED_DEVICES = [DEVICE.CUDA, DEVICE.ROCM]
SUPPORTED_DEVICES = DEVICE.CUDA
OTHERS = [DEVICE.CUDA]
