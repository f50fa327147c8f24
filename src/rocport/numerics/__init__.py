"""Numbers of a run: capture them to a golden file, compare another run with it, name the first operator that diverges.

`golden`, `alignment`, `difference`, `tolerance` and `comparison` read files and need no PyTorch; `recorder`,
`statistics`, `replay` and `layouts` run inside the process of the code under test. See docs/numerics.md.
"""
