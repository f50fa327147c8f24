"""The values that flow between packages. Immutable; imports nothing else of rocport."""

from rocport.model.context import Context, Definition, Options, ProjectIndex
from rocport.model.findings import Applicability, Confidence, Edit, Finding, Severity, Span
from rocport.model.folders import cache_folder
from rocport.model.limits import HANGING_S
from rocport.model.patch import Findings, Patch, PatchFile
from rocport.model.report import Cell, Effort, FileRecord, LeftOut, Mark, Plot, Problem, Report, Section, Series
from rocport.model.rule import PHASES, Example, Rule
from rocport.model.targets import GfxTarget
from rocport.model.tree import MAX_SOURCE_BYTES, SourceFile, SourceTree
from rocport.model.versions import HipVersion, RocmVersion, VersionError

__all__ = [
    "HANGING_S",
    "MAX_SOURCE_BYTES",
    "PHASES",
    "Applicability",
    "Cell",
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
    "Mark",
    "Options",
    "Patch",
    "PatchFile",
    "Plot",
    "Problem",
    "ProjectIndex",
    "Report",
    "RocmVersion",
    "Rule",
    "Section",
    "Series",
    "Severity",
    "SourceFile",
    "SourceTree",
    "Span",
    "VersionError",
    "cache_folder",
]
