"""The generated headers that a translation may ask for."""

WARP = "rocport_warp.h"
COMPAT = "rocport_compat.h"
HALF = "rocport_half.h"
FP8 = "rocport_fp8.h"
MMA = "rocport_mma.h"
FP16 = "<hip/hip_fp16.h>"
