"""What this machine is, what is wrong with it, what fixes it."""
