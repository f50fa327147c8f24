"""Rules over CMake, Make, shell and other build files."""
