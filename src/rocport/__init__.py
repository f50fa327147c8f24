"""rocport: take a CUDA / PyTorch repository to a correct run on an AMD GPU, and prove it before you own one."""

__version__ = "0.1.0.dev0"
