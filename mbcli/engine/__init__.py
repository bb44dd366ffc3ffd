"""The engine: kernels over arrays. It knows no names, files or classes of the layers above.

`load_kernels(compiled)` gives every kernel by name, interpreted or compiled; `model.py` and `data.py` allocate their
arrays. The order of the stages is explicit: the docstring of a kernel names the stages that must have run.
"""

from mbcli.engine.runtime.linking import load_kernels

__all__ = ["load_kernels"]
