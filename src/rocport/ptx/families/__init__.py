"""The opcodes, one module a family. What lies here is found; nothing lists it."""
