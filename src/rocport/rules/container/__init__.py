"""Rules over images, compose files and how containers get their GPU."""
