"""The values that flow between packages. Immutable; imports nothing else of rocport."""

from rocport.model.context import Context, Definition, Options, ProjectIndex
from rocport.model.findings import Applicability, Confidence, Edit, Finding, Severity, Span
from rocport.model.folders import cache_folder
from rocport.model.limits import HANGING_S
from rocport.model.patch import Findings, Patch, PatchFile
from rocport.model.report import Effort, FileRecord, LeftOut, Problem, Report
from rocport.model.rule import PHASES, Example, Rule
from rocport.model.targets import GfxTarget
from rocport.model.tree import MAX_SOURCE_BYTES, SourceFile, SourceTree
from rocport.model.versions import HipVersion, RocmVersion, VersionError

__all__ = [
    "HANGING_S",
    "MAX_SOURCE_BYTES",
    "PHASES",
    "Applicability",
    "Confidence",
    "Context",
    "Definition",
    "Edit",
    "Effort",
    "Example",
    "FileRecord",
    "Finding",
    "Findings",
    "GfxTarget",
    "HipVersion",
    "LeftOut",
    "Options",
    "Patch",
    "PatchFile",
    "Problem",
    "ProjectIndex",
    "Report",
    "RocmVersion",
    "Rule",
    "Severity",
    "SourceFile",
    "SourceTree",
    "Span",
    "VersionError",
    "cache_folder",
]
