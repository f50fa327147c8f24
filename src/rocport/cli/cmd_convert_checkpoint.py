"""`rocport convert-checkpoint`: `rocport model convert` by its first name."""

from rocport.cli.cmd_model import convert as command

__all__ = ["command"]
