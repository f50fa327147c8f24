"""Diagnose a build or run log against the known failures of `facts/failures`."""

from rocport.explain.engine import Diagnosis, Match, diagnose

__all__ = ["Diagnosis", "Match", "diagnose"]
