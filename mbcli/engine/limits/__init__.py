"""Limits, controllers and dry friction of joints in a step of a discrete plant."""
