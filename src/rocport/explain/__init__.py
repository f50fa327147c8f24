"""Read whatever is pasted: whose machine it is, which known failures of `facts/failures` it holds."""

from rocport.explain.engine import Diagnosis, diagnose
from rocport.explain.match import Match
from rocport.explain.reading import Reading, read_bytes, read_stream

__all__ = ["Diagnosis", "Match", "Reading", "diagnose", "read_bytes", "read_stream"]
