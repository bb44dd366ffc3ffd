"""Readers of model files: one file per format, each turns text into a ModelSpec (spec.py)."""
