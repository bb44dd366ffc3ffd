"""Functions of a model as code of other languages, proved by running it."""

from mbcli.codegen.free_parameters import FreeParameters
from mbcli.codegen.generation import Generated, Settings, generate
from mbcli.codegen.model_calls import model_state_functions

__all__ = ["FreeParameters", "Generated", "Settings", "generate", "model_state_functions"]
