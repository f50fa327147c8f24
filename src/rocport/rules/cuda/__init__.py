"""Rules over CUDA C++ sources."""
