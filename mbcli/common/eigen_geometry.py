"""Quaternion and AngleAxis, in the module of pydrake's."""

from mbcli.math import AngleAxis, Quaternion

__all__ = ["AngleAxis", "Quaternion"]
