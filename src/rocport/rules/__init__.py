"""What breaks on ROCm: one rule a file, found by walking the package."""
