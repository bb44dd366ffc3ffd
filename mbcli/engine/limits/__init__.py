"""Limits and controllers of joints in a step of a discrete plant."""
