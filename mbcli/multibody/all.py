"""The names of all modules of mbcli.multibody, as pydrake.multibody.all."""

from importlib.util import find_spec

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.multibody.fem import *  # noqa: F403
    from mbcli.multibody.math import *  # noqa: F403
    from mbcli.multibody.meshcat import *  # noqa: F403
    from mbcli.multibody.optimization import *  # noqa: F403
    from mbcli.multibody.parsing import *  # noqa: F403
    from mbcli.multibody.plant import *  # noqa: F403
    from mbcli.multibody.tree import *  # noqa: F403

    if find_spec("sympy") is not None:
        from mbcli.multibody.inverse_kinematics import *  # noqa: F403
