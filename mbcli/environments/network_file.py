"""NetworkFile: a neural network of an ONNX or TorchScript file as a function of arrays.

An ONNX file is data: onnxruntime computes what its graph says and calls nothing else. A TorchScript file is a program.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.errors import ControlError, ModelError, ResourceError
from mbcli.simulation.control.choices import ONNX, is_policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import Array, FloatArray, Matrix

LARGEST = 1 << 28  # bytes of a file
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64}
ACTION = "action"  # stands in the name of an output, of those of a policy that has more


class NetworkFile:
    """A network with one input (n, k), whose rows are cases, and the output (n, m) that counts: that with "action" in
    its name, or the first.

    onnxruntime (extra `onnx`) or PyTorch (extra `torch`) compute it, on one thread of the processor.

    Args:
        path: of an ONNX file, or of a TorchScript file, which runs as a program does: one of a source that is trusted.

    Attributes:
        path: as it was given.
        width_in, width_out: k and m, None where the file does not say.

    Raises:
        ResourceError: the file or a package is not there. ModelError: it is no such network.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if not is_policy(self.path):
            raise ModelError(f"{self.path}: error: a network is a file with the suffix .onnx, .pt or .ts")
        if not os.path.isfile(self.path):
            raise ResourceError(f"{self.path}: error: there is no such file")
        if os.path.getsize(self.path) > LARGEST:
            raise ModelError(f"{self.path}: error: has more than {LARGEST >> 20} MiB")
        self.width_in: int | None = None
        self.width_out: int | None = None
        self._rows: int | None = None  # that it takes at once
        self._run: Callable[[Array], Any] = self._onnx() if self.path.lower().endswith(ONNX) else self._torchscript()

    def __call__(self, values: Matrix) -> FloatArray:
        """Outputs (n, m) of inputs (n, k). ControlError: it does not compute them, or they are not finite."""
        rows = np.asarray(values)
        if self._rows in (None, len(rows)):
            found = self._called(rows)
        elif self._rows == 1:
            found = np.concatenate([self._called(row[np.newaxis]) for row in rows])
        else:
            raise self._fault(f"takes {self._rows} rows at once, there are {len(rows)}")
        if found.ndim != 2 or len(found) != len(rows):
            raise self._fault(f"gives an array of shape {found.shape} for one of shape {rows.shape}")
        if not np.isfinite(found).all():
            raise self._fault("gives a number that is not finite")
        return found

    def _called(self, rows: Array) -> FloatArray:
        try:
            return np.asarray(self._run(rows), dtype=float)
        except Exception as error:  # noqa: BLE001  errors of the two packages are of many kinds
            raise self._fault(f"does not take an array of shape {rows.shape}: {_first_line(error)}") from None

    def _fault(self, what: str) -> ControlError:
        return ControlError(f"{self.path}: error: the network {what}")

    def _onnx(self) -> Callable[[Array], Any]:
        runtime: Any = import_extra("onnxruntime", "onnx", self.path)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # errors are raised
        try:
            session = runtime.InferenceSession(self.path, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001  as above
            raise ModelError(f"{self.path}: error: is no ONNX file: {_first_line(error)}") from None
        inputs, outputs = session.get_inputs(), session.get_outputs()
        if len(inputs) != 1:
            names = ", ".join(each.name for each in inputs)
            raise ModelError(f"{self.path}: error: has {len(inputs)} inputs ({names}): one, of rows, is wanted")
        (given,) = inputs
        output = next((each for each in outputs if ACTION in each.name.lower()), outputs[0])
        for each in (given, output):
            if each.type not in TYPES or len(each.shape) != 2:
                raise ModelError(
                    f"{self.path}: error: {each.name} is a {each.type} of {len(each.shape)} dimensions: an array of "
                    "rows of floats or doubles is wanted"
                )
        self._rows, self.width_in = (size if isinstance(size, int) else None for size in given.shape)
        self.width_out = output.shape[1] if isinstance(output.shape[1], int) else None
        kind = TYPES[given.type]
        return lambda rows: session.run([output.name], {given.name: rows.astype(kind)})[0]

    def _torchscript(self) -> Callable[[Array], Any]:
        torch: Any = import_extra("torch", "torch", self.path)
        try:
            network = torch.jit.load(self.path, map_location="cpu").eval()
        except Exception as error:  # noqa: BLE001  as above
            raise ModelError(f"{self.path}: error: is no TorchScript file: {_first_line(error)}") from None
        kind = next((each.dtype for each in network.parameters()), torch.float32)

        def run(rows: Array) -> Any:
            with torch.no_grad():
                found = network(torch.as_tensor(rows, dtype=kind))
            return (found[0] if isinstance(found, tuple) else found).numpy()

        return run


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
