"""Errors of a compiled port in, edits out: `table` holds the repairs, `cycle` compiles, repairs and compiles again."""
