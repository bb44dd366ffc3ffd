"""The part of pydrake.common that a plant's user meets."""

from mbcli.common.random_generator import RandomGenerator

__all__ = ["RandomGenerator"]
