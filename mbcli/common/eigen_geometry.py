"""Quaternion and AngleAxis, where pydrake has them."""

from mbcli.math import AngleAxis, Quaternion

__all__ = ["AngleAxis", "Quaternion"]
