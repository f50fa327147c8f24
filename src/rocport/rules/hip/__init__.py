"""Rules over sources that are HIP already: what a newer ROCm takes away."""
