"""The part of pydrake.systems that a single plant needs."""
