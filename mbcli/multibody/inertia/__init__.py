"""Inertias: of a point, a solid, a body."""
