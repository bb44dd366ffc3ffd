"""Declarations of all arrays: the one place that says what stands in them."""
