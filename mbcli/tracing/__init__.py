"""Records of what kernels do with numbers: a model's functions as lists of operations, and their derivatives."""

from mbcli.tracing.graph import Graph
from mbcli.tracing.model_functions import MODEL_FUNCTIONS
from mbcli.tracing.partials import partials
from mbcli.tracing.record import Record, Variable
from mbcli.tracing.recording import record_function

__all__ = ["MODEL_FUNCTIONS", "Graph", "Record", "Variable", "partials", "record_function"]
