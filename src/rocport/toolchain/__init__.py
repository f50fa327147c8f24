"""Finds, or assembles, a HIP compiler."""
