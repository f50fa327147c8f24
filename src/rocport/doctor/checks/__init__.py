"""The checks, one a file. Each reads facts and gives its opinion; `skipped` always says why."""
