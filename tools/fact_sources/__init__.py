"""What the facts claim, beside what their machine-readable sources say. One module a source, found by its `claims`."""
