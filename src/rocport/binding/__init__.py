"""Whose name is it: declarations, macros, aliases and scopes of a project, asked before a CUDA name is renamed.

Two parts. `collect` reads what one file of the tree declares under a name that CUDA also has; it runs over every file
before any rule does, and what it finds lies in the project's index. `Binder` answers for the file at hand: is the
identifier at this place CUDA's, or one the project declares itself, as a macro, a parameter, a local, a member?

The shared lexer does the work, without a compiler: docs/adr/0060-names-are-bound-by-the-lexer.md says why.
"""

from rocport.binding.bind import Binder, Binding, Owner, binder
from rocport.binding.collect import Wanted, candidates, collect

__all__ = ["Binder", "Binding", "Owner", "Wanted", "binder", "candidates", "collect"]
