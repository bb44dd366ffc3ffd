"""Model: the read-only arrays of one finalized plant, and Data: the writable arrays of one computation.

Both are plain objects whose attributes are the arrays of fields.py. `handle` is what the stages are called with: the
object itself when they are interpreted, the address of a numba struct over the same memory when they are compiled.
"""

import numpy as np

from mbcli.engine.fields import DATA_FIELDS, MODEL_FIELDS, shape_of


class Model:
    """Read-only arrays, one attribute per entry of MODEL_FIELDS, and the sizes they share.

    Args:
        sizes: numbers by name: nbody, nlink, nframe, nq, nv, nu.
        arrays: value of each field by name; copied, checked against the declared shape.
        dtype: scalar type of the real fields.
    """

    def __init__(self, sizes, arrays, dtype=np.float64):
        self.sizes = dict(sizes)
        self.dtype = np.dtype(dtype)
        unknown = set(arrays) - {field.name for field in MODEL_FIELDS}
        if unknown:
            raise ValueError(f"not fields of Model: {sorted(unknown)}")
        for field in MODEL_FIELDS:
            kind = self.dtype if field.kind == "real" else np.int64
            value = np.array(arrays[field.name], dtype=kind, order="C")
            if value.shape != shape_of(field, sizes):
                raise ValueError(f"{field.name} has shape {value.shape}, not {shape_of(field, sizes)}")
            value.flags.writeable = False
            setattr(self, field.name, value)
        self._struct = None

    def replace(self, dtype=None, **arrays):
        """A copy in which the given fields have other values (and the real fields another scalar type)."""
        values = {field.name: getattr(self, field.name) for field in MODEL_FIELDS}
        return Model(self.sizes, {**values, **arrays}, dtype or self.dtype)

    def handle(self, compiled):
        """What kernels take for this model, as long as it lives."""
        if not compiled:
            return self
        if self._struct is None:
            from mbcli.engine.structs import handle_of, make_model

            self._struct = make_model(tuple(getattr(self, field.name) for field in MODEL_FIELDS))
            self._handle = handle_of(self._struct, self.dtype)
        return self._handle


class Data:
    """Writable arrays, one attribute per entry of DATA_FIELDS, zero at first, for a model of the given sizes.

    q and v are parts of x.
    """

    def __init__(self, sizes, dtype=np.float64):
        for field in DATA_FIELDS:
            setattr(self, field.name, np.zeros(shape_of(field, sizes), dtype=dtype))
        self.x = np.zeros(sizes["nq"] + sizes["nv"], dtype=dtype)
        self.q, self.v = self.x[: sizes["nq"]], self.x[sizes["nq"] :]
        for X in (self.X_WB, self.X_FM, self.X_WL):
            X[:, [0, 4, 8]] = 1.0
        self._struct = None

    def handle(self, compiled):
        """What kernels take for these arrays, as long as they live."""
        if not compiled:
            return self
        if self._struct is None:
            from mbcli.engine.structs import handle_of, make_data

            self._struct = make_data(tuple(getattr(self, field.name) for field in DATA_FIELDS))
            self._handle = handle_of(self._struct, self.q.dtype)
        return self._handle
