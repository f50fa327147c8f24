"""How long a child process may take before it is taken to hang."""

HANGING_S = 3600.0
"""Seconds. A compiler or a setup.py on a loaded machine can take many minutes; nothing that works takes an hour."""
