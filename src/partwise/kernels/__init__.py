"""Compiled loops. Imported only when a fit needs them, because importing numba takes a while."""
