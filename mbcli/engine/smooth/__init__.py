"""Kinematics and dynamics of trees, without contact, limits or constraints."""
