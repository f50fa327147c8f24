"""Findings in, a patch or a ported tree out. Never imports rules: edits travel inside findings."""
