"""Proof of a port, level by level: static, build, functional, numerical. A level is the module of that name here."""
