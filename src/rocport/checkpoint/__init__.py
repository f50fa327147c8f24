"""Checkpoints: read safetensors without loading them, say how a model runs on a target, convert 4-bit weights."""

from rocport.checkpoint.errors import CheckpointError

__all__ = ["CheckpointError"]
