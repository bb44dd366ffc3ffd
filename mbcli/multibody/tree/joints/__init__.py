"""Joint types, one file each."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.multibody.tree.joints.ball_quaternion import BallQuaternionJoint as BallQuaternionJoint
    from mbcli.multibody.tree.joints.ball_rpy import BallRpyJoint as BallRpyJoint
    from mbcli.multibody.tree.joints.curvilinear import CurvilinearJoint as CurvilinearJoint
    from mbcli.multibody.tree.joints.planar import PlanarJoint as PlanarJoint
    from mbcli.multibody.tree.joints.prismatic import PrismaticJoint as PrismaticJoint
    from mbcli.multibody.tree.joints.quaternion_floating import QuaternionFloatingJoint as QuaternionFloatingJoint
    from mbcli.multibody.tree.joints.revolute import RevoluteJoint as RevoluteJoint
    from mbcli.multibody.tree.joints.rpy_floating import RpyFloatingJoint as RpyFloatingJoint
    from mbcli.multibody.tree.joints.screw import ScrewJoint as ScrewJoint
    from mbcli.multibody.tree.joints.universal import UniversalJoint as UniversalJoint
    from mbcli.multibody.tree.joints.weld import WeldJoint as WeldJoint
