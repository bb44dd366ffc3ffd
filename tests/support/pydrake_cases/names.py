"""Names that pydrake has under another name, has not, or has in modules of a module's name."""

import pydrake.multibody.plant
from pydrake.geometry.all import Box
from pydrake.systems.all import Simulator
from pydrake.systems.framework import *  # noqa: F403

try:
    from pydrake.systems.primitives import SignalLogger as Logger
except ImportError:
    from pydrake.systems.primitives import VectorLogSink as Logger
print(Logger.__name__, Box.__name__, Simulator.__name__, LeafSystem.__name__)  # noqa: F405
print(hasattr(pydrake.multibody.plant, "MultibodyPlant"), hasattr(pydrake.multibody.plant, "MultibodyPlantt"))
for name in ("pydrake.systems.framwork", "pydrake.multibody.planning"):
    try:
        __import__(name)
        print(name)
    except ImportError as error:
        print(type(error).__name__)
