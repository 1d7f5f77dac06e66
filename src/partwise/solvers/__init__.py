"""Solvers: they minimise any sum of terms and know no method."""
