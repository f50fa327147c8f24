"""What reading or converting a checkpoint raises."""

from __future__ import annotations


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message names file, tensor and what was expected."""
