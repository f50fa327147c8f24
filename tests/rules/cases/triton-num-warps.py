import triton

kernel[grid](x, num_warps=32)
kernel[grid](x, num_warps=31, other=64)
kernel[grid](x, num_warps=64 if big else 4)
kernel[grid](x, num_warps=4 if big else 64)
kernel[grid](x, num_warps=BLOCK // 32)
kernel[grid](x, num_warps=BLOCK / 32)
kernel[grid](x, num_warps=max(BLOCK // 32, 1))
kernel[grid](x, num_warps=BLOCK // 16)
kernel[grid](x, num_warps=32 // BLOCK)
NUM_WARPS = [8, 16, 32]
num_warps = (32,)
num_warps = (16, 32)
num_warps, stages = [8, [32]]
MAX_NUM_WARPS: int = 32
num_warps = {4, 32}
num_warps = 32
threads = 32
a = [triton.Config({}, num_warps=n) for n in [4, 32]]
b = [triton.Config({}, num_warps=n, k=m) for n in [4, 8] for m in [16, 32]]
c = [triton.Config({}, num_warps=n) for n, m in [(4, 32)]]
d = [triton.Config({}, num_warps=m) for n in [4, 32]]
e = [triton.Config({}, other=n) for n in [4, 32]]
f = [triton.Config({}, num_warps=n) for n in (32, 64)]
num_warps = [4] if is_amd else [32]
num_warps = [4] if is_big else [32]
num_warps = "32"
kernel[grid](x, num_warps=32, num_stages=f(num_warps=32))
