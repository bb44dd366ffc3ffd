"""Deformable bodies of a plant: their registration, and their state in a context."""
