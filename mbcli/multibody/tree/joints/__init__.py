"""Joint types, one file each."""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.multibody.tree.joints.ball_quaternion import BallQuaternionJoint
    from mbcli.multibody.tree.joints.ball_rpy import BallRpyJoint
    from mbcli.multibody.tree.joints.curvilinear import CurvilinearJoint
    from mbcli.multibody.tree.joints.planar import PlanarJoint
    from mbcli.multibody.tree.joints.prismatic import PrismaticJoint
    from mbcli.multibody.tree.joints.quaternion_floating import QuaternionFloatingJoint
    from mbcli.multibody.tree.joints.revolute import RevoluteJoint
    from mbcli.multibody.tree.joints.rpy_floating import RpyFloatingJoint
    from mbcli.multibody.tree.joints.screw import ScrewJoint
    from mbcli.multibody.tree.joints.universal import UniversalJoint
    from mbcli.multibody.tree.joints.weld import WeldJoint

__all__ = [
    "BallQuaternionJoint",
    "BallRpyJoint",
    "CurvilinearJoint",
    "PlanarJoint",
    "PrismaticJoint",
    "QuaternionFloatingJoint",
    "RevoluteJoint",
    "RpyFloatingJoint",
    "ScrewJoint",
    "UniversalJoint",
    "WeldJoint",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "ball_quaternion": ("BallQuaternionJoint",),
        "ball_rpy": ("BallRpyJoint",),
        "curvilinear": ("CurvilinearJoint",),
        "planar": ("PlanarJoint",),
        "prismatic": ("PrismaticJoint",),
        "quaternion_floating": ("QuaternionFloatingJoint",),
        "revolute": ("RevoluteJoint",),
        "rpy_floating": ("RpyFloatingJoint",),
        "screw": ("ScrewJoint",),
        "universal": ("UniversalJoint",),
        "weld": ("WeldJoint",),
    },
)
