"""Rules over Python: setup.py and the package alike."""
