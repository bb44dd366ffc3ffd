"""Functions of a model as code of other languages, proved by running it."""

from mbcli.codegen.generation import Generated, Settings, generate

__all__ = ["Generated", "Settings", "generate"]
