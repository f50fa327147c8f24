"""One module a source. `parse...` are pure functions from text to Facts; `probe(host)` reads the machine."""
