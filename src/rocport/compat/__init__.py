"""Which versions go together: GPU, Python, operating system and packages in, an installable plan out."""

from rocport.compat.errors import CompatError

__all__ = ["CompatError"]
