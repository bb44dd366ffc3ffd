"""Every public class and function in one place, as pydrake.all."""

from mbcli.autodiffutils import *  # noqa: F403
from mbcli.common import *  # noqa: F403
from mbcli.common.value import *  # noqa: F403
from mbcli.geometry import *  # noqa: F403
from mbcli.math import *  # noqa: F403
from mbcli.multibody.fem import *  # noqa: F403
from mbcli.multibody.math import *  # noqa: F403
from mbcli.multibody.parsing import *  # noqa: F403
from mbcli.multibody.plant import *  # noqa: F403
from mbcli.multibody.tree import *  # noqa: F403
from mbcli.systems.analysis import *  # noqa: F403
from mbcli.systems.controllers import *  # noqa: F403
from mbcli.systems.framework import *  # noqa: F403
from mbcli.systems.primitives import *  # noqa: F403
from mbcli.trajectories import *  # noqa: F403
