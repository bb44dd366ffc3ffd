"""The engine: kernels over arrays. It knows no names, files or classes of the layers above.

`load_kernels(compiled)` gives every kernel by name, interpreted or compiled; `model.py` and `data.py` allocate what
they work on. The order of the stages is explicit: a kernel says in its docstring which stages must have run.
"""

from mbcli.engine.runtime.linking import load_kernels

__all__ = ["load_kernels"]
