"""PTX as a house of its own: read an asm statement, translate it opcode by opcode, say why where that cannot be.

`parse` gives the parts of a statement and its instructions, `translator` the way of one statement to C++, `families`
the opcodes with examples (each a test, and a row of docs/ptx.md), `refusals` what has no translation.
"""
