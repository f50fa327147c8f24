import cupy

ONE = r"""
extern "C" __global__ void f(int *x) {
  *x = __shfl_sync(0xffffffff, *x, 0); __syncwarp();
}
"""
TWO = "__global__ void f(int *x) { *x = __shfl_sync(0xffffffff, *x, 0); }"
THREE = """__device__ int g(int x) { return __ballot_sync(~0u, x); }
"""
FOUR = "__device__ int g(int x);  __ballot_sync"
FIVE = """
__global__ void f(int *x) { x[threadIdx.x] = 1; }
"""
SIX = """
.version 7.0
.target sm_80
.visible .entry f() { ret; }
"""
SEVEN = "nothing __ballot_sync { }"
EIGHT = cupy.RawModule(code=Path("k.cu").read_text())
NINE = cupy.RawModule(code=open("k.cuh").read())
TEN = cupy.RawModule(path="k.cu")
ELEVEN = f"""
__global__ void {name}(int *x) {{
  *x = __any_sync(0xffffffff, *x);
}}
"""
TWELVE = "\n__global__ void f(int *x) {\n  __syncwarp(); }"
THIRTEEN = (
    "\n__global__ void f(int *x) {\n"
    "__syncwarp(); }"
)
