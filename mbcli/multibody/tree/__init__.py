"""Elements of a plant, under the names of pydrake.multibody.tree."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.multibody.fem.force_density import (
        ForceDensityField as ForceDensityField,
        GravityForceField as GravityForceField,
    )
    from mbcli.multibody.inertia.rotational_inertia import RotationalInertia as RotationalInertia
    from mbcli.multibody.inertia.spatial_inertia import SpatialInertia as SpatialInertia
    from mbcli.multibody.inertia.unit_inertia import UnitInertia as UnitInertia
    from mbcli.multibody.tree.ball_spring import BallSpring as BallSpring
    from mbcli.multibody.tree.bushing import LinearBushingRollPitchYaw as LinearBushingRollPitchYaw
    from mbcli.multibody.tree.constraint_id import MultibodyConstraintId as MultibodyConstraintId
    from mbcli.multibody.tree.deformable_body import (
        DeformableBody as DeformableBody,
        DeformableBodyId as DeformableBodyId,
    )
    from mbcli.multibody.tree.door_hinge import DoorHinge as DoorHinge, DoorHingeConfig as DoorHingeConfig
    from mbcli.multibody.tree.force_element import ForceElement as ForceElement
    from mbcli.multibody.tree.frame import (
        BodyFrame as BodyFrame,
        FixedOffsetFrame as FixedOffsetFrame,
        Frame as Frame,
        RigidBodyFrame as RigidBodyFrame,
    )
    from mbcli.multibody.tree.index import (
        BodyIndex as BodyIndex,
        DeformableBodyIndex as DeformableBodyIndex,
        ForceElementIndex as ForceElementIndex,
        FrameIndex as FrameIndex,
        JointActuatorIndex as JointActuatorIndex,
        JointIndex as JointIndex,
        ModelInstanceIndex as ModelInstanceIndex,
        default_model_instance as default_model_instance,
        world_frame_index as world_frame_index,
        world_index as world_index,
        world_model_instance as world_model_instance,
    )
    from mbcli.multibody.tree.jacobian_wrt_variable import JacobianWrtVariable as JacobianWrtVariable
    from mbcli.multibody.tree.joint import Joint as Joint
    from mbcli.multibody.tree.joint_actuator import (
        JointActuator as JointActuator,
        PdControllerGains as PdControllerGains,
    )
    from mbcli.multibody.tree.joint_spring import PrismaticSpring as PrismaticSpring, RevoluteSpring as RevoluteSpring
    from mbcli.multibody.tree.joints import (
        BallQuaternionJoint as BallQuaternionJoint,
        BallRpyJoint as BallRpyJoint,
        CurvilinearJoint as CurvilinearJoint,
        PlanarJoint as PlanarJoint,
        PrismaticJoint as PrismaticJoint,
        QuaternionFloatingJoint as QuaternionFloatingJoint,
        RevoluteJoint as RevoluteJoint,
        RpyFloatingJoint as RpyFloatingJoint,
        ScrewJoint as ScrewJoint,
        UniversalJoint as UniversalJoint,
        WeldJoint as WeldJoint,
    )
    from mbcli.multibody.tree.linear_spring_damper import LinearSpringDamper as LinearSpringDamper
    from mbcli.multibody.tree.multibody_forces import MultibodyForces as MultibodyForces
    from mbcli.multibody.tree.rigid_body import Body as Body, RigidBody as RigidBody
    from mbcli.multibody.tree.scalar_templates import (
        BallQuaternionJoint_ as BallQuaternionJoint_,
        BallRpyJoint_ as BallRpyJoint_,
        Body_ as Body_,
        BodyFrame_ as BodyFrame_,
        CurvilinearJoint_ as CurvilinearJoint_,
        DoorHinge_ as DoorHinge_,
        FixedOffsetFrame_ as FixedOffsetFrame_,
        ForceDensityField_ as ForceDensityField_,
        ForceElement_ as ForceElement_,
        Frame_ as Frame_,
        GravityForceField_ as GravityForceField_,
        Joint_ as Joint_,
        JointActuator_ as JointActuator_,
        LinearBushingRollPitchYaw_ as LinearBushingRollPitchYaw_,
        LinearSpringDamper_ as LinearSpringDamper_,
        MultibodyForces_ as MultibodyForces_,
        PlanarJoint_ as PlanarJoint_,
        PrismaticJoint_ as PrismaticJoint_,
        PrismaticSpring_ as PrismaticSpring_,
        QuaternionFloatingJoint_ as QuaternionFloatingJoint_,
        RevoluteJoint_ as RevoluteJoint_,
        RevoluteSpring_ as RevoluteSpring_,
        RigidBody_ as RigidBody_,
        RigidBodyFrame_ as RigidBodyFrame_,
        RotationalInertia_ as RotationalInertia_,
        RpyFloatingJoint_ as RpyFloatingJoint_,
        ScrewJoint_ as ScrewJoint_,
        SpatialInertia_ as SpatialInertia_,
        UniformGravityFieldElement_ as UniformGravityFieldElement_,
        UnitInertia_ as UnitInertia_,
        UniversalJoint_ as UniversalJoint_,
        WeldJoint_ as WeldJoint_,
    )
    from mbcli.multibody.tree.scoped_name import ScopedName as ScopedName
    from mbcli.multibody.tree.shape_inertia import CalcSpatialInertia as CalcSpatialInertia
    from mbcli.multibody.tree.uniform_gravity import UniformGravityFieldElement as UniformGravityFieldElement
