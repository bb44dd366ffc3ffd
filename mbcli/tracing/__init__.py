"""Records of what kernels do with numbers: a model's functions as lists of operations, and their derivatives."""

from mbcli.tracing.graph import Graph
from mbcli.tracing.model_functions import MODEL_FUNCTIONS, record_function
from mbcli.tracing.partials import partials
from mbcli.tracing.record import Record, Variable

__all__ = ["MODEL_FUNCTIONS", "Graph", "Record", "Variable", "partials", "record_function"]
