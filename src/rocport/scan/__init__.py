"""A source tree in, findings out. Knows no rule by name."""
