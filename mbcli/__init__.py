"""mbcli: multibody dynamics from robot model files.

    import mbcli

    model = mbcli.load_model("robot.urdf", ground=0.0, hold=True)
    log = mbcli.simulate(model, until=2.0)
    log["elbow_q"], log[0.5:1.0]["energy_kinetic"], log.to_pandas()

load_model, simulate, simulate_each, resume, sweep, Worlds and open_log are those of mbcli.models, .simulation, .sweeps
and .log.
"""

import os.path
import sys

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.log import open_log as open_log
    from mbcli.models import load_model as load_model
    from mbcli.simulation import (
        Worlds as Worlds,
        resume as resume,
        simulate as simulate,
        simulate_each as simulate_each,
    )
    from mbcli.sweeps import sweep as sweep

__version__ = "0.1.0"

# parsers/ and schemas/ are installed inside of this package. In a checkout that is not installed they stand beside it.
_FOLDER = os.path.dirname(os.path.abspath(__file__))
if not os.path.exists(os.path.join(_FOLDER, "parsers")):
    __path__.append(os.path.dirname(_FOLDER))
    sys.modules[f"{__name__}.{__name__}"] = None  # type: ignore[assignment]  # else a second copy of this package is there
