"""The part of pkg_resources that setup scripts use; setuptools has dropped the module."""

from importlib.metadata import PackageNotFoundError as DistributionNotFound
from importlib.metadata import distribution as get_distribution

from packaging.version import parse as parse_version

__all__ = ["DistributionNotFound", "get_distribution", "parse_version"]
