"""Rules over what a project asks to be installed."""
