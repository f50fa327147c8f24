"""What has no translation, by opcode or by its first letters, and what to do instead."""

REASONS = {
    "mma": "tensor-core instruction: use rocWMMA, or Composable Kernel for whole GEMMs",
    "wmma": "tensor-core instruction: use rocWMMA",
    "wgmma": "Hopper tensor-core instruction: use Composable Kernel (CK-Tile) or rocWMMA",
    "tcgen05": "Blackwell tensor-core instruction: use Composable Kernel (CK-Tile) or rocWMMA",
    "mbarrier": "asynchronous barrier in shared memory: AMD GPUs have none; use __syncthreads around plain copies",
    "elect": "elects a lane: write `rocport::lane_id() == 0` where lane 0 is active",
    "setmaxnreg": "moves registers between warps: AMD GPUs cannot; drop it with the warp specialization around it",
    "tensormap": "TMA descriptor: AMD GPUs have no TMA; copy with plain loads",
    "mapa": "address in another block of a cluster: AMD GPUs have no thread-block clusters",
    "bra": "branch to a label: write it as C++ control flow",
    "call": "PTX function call: call the C++ function",
    "tex": "texture fetch: use tex1D/tex2D/tex3D on a texture object",
    "suld": "surface load: use surf2Dread",
    "sust": "surface store: use surf2Dwrite",
    "alloca": "stack allocation: use a local array",
    **dict.fromkeys(("vadd4", "vsub4", "vmin4", "vmax4", "vavrg4"), "video instruction: write what it computes as C++"),
    **dict.fromkeys(("bmsk", "szext", "fns"), "no translation; write what it computes as C++"),
}
