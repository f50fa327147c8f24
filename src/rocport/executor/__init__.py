"""Runs HIP kernels on the CPU at wavefront width 32 and 64."""
