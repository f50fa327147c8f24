"""The values that flow between packages. Immutable; imports nothing else of rocport."""

from rocport.model.findings import Applicability, Confidence, Edit, Finding, Severity, Span
from rocport.model.rule import Example, Rule
from rocport.model.targets import GfxTarget
from rocport.model.versions import HipVersion, RocmVersion, VersionError, VersionRange

__all__ = [
    "Applicability",
    "Confidence",
    "Edit",
    "Example",
    "Finding",
    "GfxTarget",
    "HipVersion",
    "RocmVersion",
    "Rule",
    "Severity",
    "Span",
    "VersionError",
    "VersionRange",
]
