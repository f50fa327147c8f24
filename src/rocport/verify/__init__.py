"""Proof of a port, level by level: static, build, functional, numerical."""
