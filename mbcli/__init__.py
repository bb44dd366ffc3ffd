"""mbcli: multibody dynamics from robot model files."""

import os.path
import sys

__version__ = "0.1.0"

# parsers/ and schemas/ are installed inside of this package. In a checkout that is not installed they stand beside it.
_FOLDER = os.path.dirname(os.path.abspath(__file__))
if not os.path.exists(os.path.join(_FOLDER, "parsers")):
    __path__.append(os.path.dirname(_FOLDER))
    sys.modules[f"{__name__}.{__name__}"] = None  # type: ignore[assignment]  # else a second copy of this package is there
