"""Parsers without opinions."""
