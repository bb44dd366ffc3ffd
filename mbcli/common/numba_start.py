"""The import of numba without BLAS, which takes a tenth of the time of a short run and no kernel calls."""

import os
import sys
from types import ModuleType

from mbcli.common.foreign_settings import without_settings_of_the_folder

_BLAS = "scipy.linalg.cython_blas"


def import_numba() -> None:
    """Imports what numba needs to load compiled functions.

    numba imports `scipy.linalg` (0.2 s) to see whether it is there. It is: mbcli depends on scipy. So an empty module
    stands for it meanwhile. A compiled function that multiplies matrices still finds the real one when it is called.
    No `.numba_config.yaml` is read.
    """
    if "numba" not in sys.modules:
        with without_settings_of_the_folder():
            import numba  # noqa: F401
        from numba.core import config

        config._config_fname = os.devnull  # which the compiler would ask for again, in the working folder

    if "numba.np.arraymath" in sys.modules or _BLAS in sys.modules:
        return
    sys.modules[_BLAS] = ModuleType(_BLAS)
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[_BLAS]
