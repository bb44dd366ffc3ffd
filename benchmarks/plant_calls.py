"""Calls of a plant and its elements that take a context, as data: the same source for mbcli and for pydrake.

In each, `s` is a PlantSide.
"""

import numpy as np

# what is computed from the state: measured at an unchanged and at a new state
CALCULATIONS = {
    # the plant: dynamics
    "CalcMassMatrix": lambda s: s.plant.CalcMassMatrix(s.context),
    "CalcMassMatrixViaInverseDynamics": lambda s: s.plant.CalcMassMatrixViaInverseDynamics(s.context),
    "CalcBiasTerm": lambda s: s.plant.CalcBiasTerm(s.context),
    "CalcGravityGeneralizedForces": lambda s: s.plant.CalcGravityGeneralizedForces(s.context),
    "CalcInverseDynamics": lambda s: s.plant.CalcInverseDynamics(s.context, s.case.vdot, s.forces),
    "CalcForceElementsContribution": lambda s: s.plant.CalcForceElementsContribution(s.context, s.forces),
    "CalcGeneralizedForces": lambda s: s.plant.CalcGeneralizedForces(s.context, s.forces),
    "EvalTimeDerivatives": lambda s: s.plant.EvalTimeDerivatives(s.context),
    "CalcKineticEnergy": lambda s: s.plant.CalcKineticEnergy(s.context),
    "EvalKineticEnergy": lambda s: s.plant.EvalKineticEnergy(s.context),
    "CalcPotentialEnergy": lambda s: s.plant.CalcPotentialEnergy(s.context),
    "EvalPotentialEnergy": lambda s: s.plant.EvalPotentialEnergy(s.context),
    "CalcConservativePower": lambda s: s.plant.CalcConservativePower(s.context),
    "CalcNonConservativePower": lambda s: s.plant.CalcNonConservativePower(s.context),
    # the plant: kinematics
    "CalcSpatialAccelerationsFromVdot": lambda s: s.plant.CalcSpatialAccelerationsFromVdot(s.context, s.case.vdot),
    "EvalBodyPoseInWorld": lambda s: s.plant.EvalBodyPoseInWorld(s.context, s.body),
    "EvalBodySpatialVelocityInWorld": lambda s: s.plant.EvalBodySpatialVelocityInWorld(s.context, s.body),
    "EvalBodySpatialAccelerationInWorld": lambda s: s.plant.EvalBodySpatialAccelerationInWorld(s.context, s.body),
    "CalcRelativeTransform": lambda s: s.plant.CalcRelativeTransform(s.context, s.frame, s.world),
    "CalcRelativeRotationMatrix": lambda s: s.plant.CalcRelativeRotationMatrix(s.context, s.frame, s.base),
    "CalcPointsPositions": lambda s: s.plant.CalcPointsPositions(s.context, s.frame, s.points, s.world),
    "CalcPointsVelocities": lambda s: s.plant.CalcPointsVelocities(s.context, s.frame, s.points, s.base, s.world),
    "MapVelocityToQDot": lambda s: s.plant.MapVelocityToQDot(s.context, s.case.v[0]),
    "MapQDotToVelocity": lambda s: s.plant.MapQDotToVelocity(s.context, s.case.q[1]),
    "MakeVelocityToQDotMap": lambda s: s.plant.MakeVelocityToQDotMap(s.context),
    "MakeQDotToVelocityMap": lambda s: s.plant.MakeQDotToVelocityMap(s.context),
    # the plant: Jacobians
    "CalcJacobianAngularVelocity": lambda s: s.plant.CalcJacobianAngularVelocity(
        s.context, s.by_v, s.frame, s.world, s.world
    ),
    "CalcJacobianTranslationalVelocity": lambda s: s.plant.CalcJacobianTranslationalVelocity(
        s.context, s.by_v, s.frame, s.points, s.world, s.world
    ),
    "CalcJacobianTranslationalVelocity.10-points": lambda s: s.plant.CalcJacobianTranslationalVelocity(
        s.context, s.by_v, s.frame, s.ten_points, s.world, s.world
    ),
    "CalcJacobianSpatialVelocity": lambda s: s.plant.CalcJacobianSpatialVelocity(
        s.context, s.by_v, s.frame, s.point, s.world, s.world
    ),
    "CalcJacobianSpatialVelocity.by-qdot": lambda s: s.plant.CalcJacobianSpatialVelocity(
        s.context, s.by_qdot, s.frame, s.point, s.world, s.world
    ),
    "CalcJacobianPositionVector": lambda s: s.plant.CalcJacobianPositionVector(
        s.context, s.frame, s.points, s.base, s.world
    ),
    "CalcJacobianCenterOfMassTranslationalVelocity": lambda s: s.plant.CalcJacobianCenterOfMassTranslationalVelocity(
        s.context, s.by_v, s.world, s.world
    ),
    "CalcBiasSpatialAcceleration": lambda s: s.plant.CalcBiasSpatialAcceleration(
        s.context, s.by_v, s.frame, s.point, s.world, s.world
    ),
    "CalcBiasTranslationalAcceleration": lambda s: s.plant.CalcBiasTranslationalAcceleration(
        s.context, s.by_v, s.frame, s.points, s.world, s.world
    ),
    "CalcBiasCenterOfMassTranslationalAcceleration": lambda s: s.plant.CalcBiasCenterOfMassTranslationalAcceleration(
        s.context, s.by_v, s.world, s.world
    ),
    # the plant: sums over bodies
    "CalcCenterOfMassPositionInWorld": lambda s: s.plant.CalcCenterOfMassPositionInWorld(s.context),
    "CalcCenterOfMassPositionInWorld.of-instance": lambda s: s.plant.CalcCenterOfMassPositionInWorld(
        s.context, s.instances
    ),
    "CalcCenterOfMassTranslationalVelocityInWorld": lambda s: s.plant.CalcCenterOfMassTranslationalVelocityInWorld(
        s.context
    ),
    "CalcCenterOfMassTranslationalAccelerationInWorld": (
        lambda s: s.plant.CalcCenterOfMassTranslationalAccelerationInWorld(s.context)
    ),
    "CalcSpatialMomentumInWorldAboutPoint": lambda s: s.plant.CalcSpatialMomentumInWorldAboutPoint(s.context, s.point),
    "CalcSpatialInertia": lambda s: s.plant.CalcSpatialInertia(s.context, s.frame, s.all_bodies),
    # output ports
    "state.Eval": lambda s: s.plant.get_state_output_port().Eval(s.context),
    "body_poses.Eval": lambda s: s.plant.get_body_poses_output_port().Eval(s.context),
    "body_spatial_velocities.Eval": lambda s: s.plant.get_body_spatial_velocities_output_port().Eval(s.context),
    "body_spatial_accelerations.Eval": lambda s: s.plant.get_body_spatial_accelerations_output_port().Eval(s.context),
    "generalized_acceleration.Eval": lambda s: s.plant.get_generalized_acceleration_output_port().Eval(s.context),
    "net_actuation.Eval": lambda s: s.plant.get_net_actuation_output_port().Eval(s.context),
    "reaction_forces.Eval": lambda s: s.plant.get_reaction_forces_output_port().Eval(s.context),
    # frames and bodies
    "Frame.CalcPoseInWorld": lambda s: s.frame.CalcPoseInWorld(s.context),
    "Frame.CalcPose": lambda s: s.frame.CalcPose(s.context, s.base),
    "Frame.CalcRotationMatrixInWorld": lambda s: s.frame.CalcRotationMatrixInWorld(s.context),
    "Frame.CalcRotationMatrix": lambda s: s.frame.CalcRotationMatrix(s.context, s.base),
    "Frame.EvalAngularVelocityInWorld": lambda s: s.frame.EvalAngularVelocityInWorld(s.context),
    "Frame.CalcAngularVelocity": lambda s: s.frame.CalcAngularVelocity(s.context, s.base, s.base),
    "Frame.CalcSpatialVelocityInWorld": lambda s: s.frame.CalcSpatialVelocityInWorld(s.context),
    "Frame.CalcSpatialVelocity": lambda s: s.frame.CalcSpatialVelocity(s.context, s.base, s.base),
    "Frame.CalcRelativeSpatialVelocityInWorld": lambda s: s.frame.CalcRelativeSpatialVelocityInWorld(s.context, s.base),
    "Frame.CalcRelativeSpatialVelocity": lambda s: s.frame.CalcRelativeSpatialVelocity(
        s.context, s.base, s.world, s.base
    ),
    "Frame.CalcSpatialAccelerationInWorld": lambda s: s.frame.CalcSpatialAccelerationInWorld(s.context),
    "Frame.CalcSpatialAcceleration": lambda s: s.frame.CalcSpatialAcceleration(s.context, s.base, s.base),
    "Frame.CalcRelativeSpatialAccelerationInWorld": lambda s: s.frame.CalcRelativeSpatialAccelerationInWorld(
        s.context, s.base
    ),
    "Frame.CalcRelativeSpatialAcceleration": lambda s: s.frame.CalcRelativeSpatialAcceleration(
        s.context, s.base, s.world, s.base
    ),
    "RigidBody.EvalPoseInWorld": lambda s: s.body.EvalPoseInWorld(s.context),
    "RigidBody.EvalSpatialVelocityInWorld": lambda s: s.body.EvalSpatialVelocityInWorld(s.context),
    "RigidBody.EvalSpatialAccelerationInWorld": lambda s: s.body.EvalSpatialAccelerationInWorld(s.context),
    "RigidBody.CalcCenterOfMassTranslationalVelocityInWorld": (
        lambda s: s.body.CalcCenterOfMassTranslationalVelocityInWorld(s.context)
    ),
    "RigidBody.CalcCenterOfMassTranslationalAccelerationInWorld": (
        lambda s: s.body.CalcCenterOfMassTranslationalAccelerationInWorld(s.context)
    ),
    "RigidBody.AddInForce": lambda s: s.body.AddInForce(s.context, s.point, s.force, s.base, s.sum),
    "gravity_field.CalcGravityGeneralizedForces": lambda s: s.plant.gravity_field().CalcGravityGeneralizedForces(
        s.context
    ),
}

# what reads or writes values of the context: measured at an unchanged state
VALUES = {
    "CreateDefaultContext": lambda s: drop(s.plant.CreateDefaultContext()),
    "CalcTotalMass": lambda s: s.plant.CalcTotalMass(s.context),
    "CalcTotalMass.of-instance": lambda s: s.plant.CalcTotalMass(s.context, s.instances),
    "GetPositions": lambda s: s.plant.GetPositions(s.context),
    "GetPositions.of-instance": lambda s: s.plant.GetPositions(s.context, s.instance),
    "GetVelocities": lambda s: s.plant.GetVelocities(s.context),
    "GetVelocities.of-instance": lambda s: s.plant.GetVelocities(s.context, s.instance),
    "GetPositionsAndVelocities": lambda s: s.plant.GetPositionsAndVelocities(s.context),
    "GetPositionsAndVelocities.of-instance": lambda s: s.plant.GetPositionsAndVelocities(s.context, s.instance),
    "SetPositions": lambda s: s.plant.SetPositions(s.context, s.case.q[0]),
    "SetPositions.of-instance": lambda s: s.plant.SetPositions(s.context, s.instance, s.case.q[0]),
    "SetVelocities": lambda s: s.plant.SetVelocities(s.context, s.case.v[0]),
    "SetVelocities.of-instance": lambda s: s.plant.SetVelocities(s.context, s.instance, s.case.v[0]),
    "SetPositionsAndVelocities": lambda s: s.plant.SetPositionsAndVelocities(s.context, s.q_v),
    "SetPositionsAndVelocities.of-instance": lambda s: s.plant.SetPositionsAndVelocities(s.context, s.instance, s.q_v),
    "Frame.CalcPoseInBodyFrame": lambda s: s.frame.CalcPoseInBodyFrame(s.context),
    "Frame.CalcRotationMatrixInBodyFrame": lambda s: s.frame.CalcRotationMatrixInBodyFrame(s.context),
    "Frame.CalcOffsetPoseInBody": lambda s: s.frame.CalcOffsetPoseInBody(s.context, s.pose),
    "Frame.CalcOffsetRotationMatrixInBody": lambda s: s.frame.CalcOffsetRotationMatrixInBody(
        s.context, s.pose.rotation()
    ),
    "RigidBody.get_mass": lambda s: s.body.get_mass(s.context),
    "RigidBody.CalcCenterOfMassInBodyFrame": lambda s: s.body.CalcCenterOfMassInBodyFrame(s.context),
    "RigidBody.CalcSpatialInertiaInBodyFrame": lambda s: s.body.CalcSpatialInertiaInBodyFrame(s.context),
    "RigidBody.SetMass": lambda s: s.body.SetMass(s.context, 1.0),
    "RigidBody.SetCenterOfMassInBodyFrame": lambda s: s.body.SetCenterOfMassInBodyFrame(s.context, s.com),
    "RigidBody.SetSpatialInertiaInBodyFrame": lambda s: s.body.SetSpatialInertiaInBodyFrame(s.context, s.inertia),
    "RigidBody.GetForceInWorld": lambda s: s.body.GetForceInWorld(s.context, s.forces),
    "RigidBody.AddInForceInWorld": lambda s: s.body.AddInForceInWorld(s.context, s.force, s.sum),
    "Joint.GetOnePosition": lambda s: s.joint.GetOnePosition(s.context),
    "Joint.GetOneVelocity": lambda s: s.joint.GetOneVelocity(s.context),
    "Joint.GetDamping": lambda s: s.joint.GetDamping(s.context),
    "Joint.GetDampingVector": lambda s: s.joint.GetDampingVector(s.context),
    "Joint.SetDamping": lambda s: s.joint.SetDamping(s.context, 0.1),
    "Joint.SetDampingVector": lambda s: s.joint.SetDampingVector(s.context, s.one),
    "Joint.is_locked": lambda s: s.joint.is_locked(s.context),
    "Joint.AddInOneForce": lambda s: s.joint.AddInOneForce(s.context, 0, 1.0, s.sum),
    "Joint.AddInDamping": lambda s: s.joint.AddInDamping(s.context, s.sum),
    "RevoluteJoint.get_angle": lambda s: s.joint.get_angle(s.context),
    "RevoluteJoint.get_angular_rate": lambda s: s.joint.get_angular_rate(s.context),
    "RevoluteJoint.set_angle": lambda s: drop(s.joint.set_angle(s.context, 0.1)),
    "RevoluteJoint.set_angular_rate": lambda s: drop(s.joint.set_angular_rate(s.context, 0.1)),
}

# those that need an actuator
ACTUATOR_VALUES = {
    "actuation.FixValue": lambda s: drop(s.plant.get_actuation_input_port().FixValue(s.context, s.u)),
    "actuation.Eval": lambda s: s.plant.get_actuation_input_port().Eval(s.context),
    "JointActuator.rotor_inertia": lambda s: s.actuator.rotor_inertia(s.context),
    "JointActuator.gear_ratio": lambda s: s.actuator.gear_ratio(s.context),
    "JointActuator.calc_reflected_inertia": lambda s: s.actuator.calc_reflected_inertia(s.context),
    "JointActuator.SetRotorInertia": lambda s: s.actuator.SetRotorInertia(s.context, 0.1),
    "JointActuator.SetGearRatio": lambda s: s.actuator.SetGearRatio(s.context, 2.0),
}

# those that need a body on a quaternion joint
FREE_BODY_VALUES = {
    "GetFreeBodyPose": lambda s: s.plant.GetFreeBodyPose(s.context, s.free_body),
    "SetFreeBodyPose": lambda s: s.plant.SetFreeBodyPose(s.context, s.free_body, s.pose),
    "SetFreeBodySpatialVelocity": lambda s: s.plant.SetFreeBodySpatialVelocity(s.free_body, s.velocity, s.context),
    "RigidBody.is_locked": lambda s: s.free_body.is_locked(s.context),
    "QuaternionFloatingJoint.GetPose": lambda s: s.free_joint.GetPose(s.context),
    "QuaternionFloatingJoint.SetPose": lambda s: drop(s.free_joint.SetPose(s.context, s.pose)),
    "QuaternionFloatingJoint.get_quaternion": lambda s: s.free_joint.get_quaternion(s.context),
    "QuaternionFloatingJoint.SetQuaternion": lambda s: drop(s.free_joint.SetQuaternion(s.context, s.quaternion)),
    "QuaternionFloatingJoint.SetOrientation": lambda s: drop(s.free_joint.SetOrientation(s.context, s.pose.rotation())),
    "QuaternionFloatingJoint.get_translation": lambda s: s.free_joint.get_translation(s.context),
    "QuaternionFloatingJoint.SetTranslation": lambda s: drop(s.free_joint.SetTranslation(s.context, s.point)),
    "QuaternionFloatingJoint.get_angular_velocity": lambda s: s.free_joint.get_angular_velocity(s.context),
    "QuaternionFloatingJoint.set_angular_velocity": lambda s: drop(
        s.free_joint.set_angular_velocity(s.context, s.point)
    ),
    "QuaternionFloatingJoint.get_translational_velocity": lambda s: s.free_joint.get_translational_velocity(s.context),
    "QuaternionFloatingJoint.set_translational_velocity": lambda s: drop(
        s.free_joint.set_translational_velocity(s.context, s.point)
    ),
}

CALLS = CALCULATIONS | VALUES | ACTUATOR_VALUES | FREE_BODY_VALUES


class PlantSide:
    """A plant of mbcli or of pydrake, a context of it, and what its calls take.

    Args:
        plant: finalized.
        case: the states.
        tree, math: the library's modules multibody.tree and math.
        spatial: its module multibody.math.
    """

    def __init__(self, plant, case, tree, math, spatial):
        self.plant, self.case = plant, case
        self.context = plant.CreateDefaultContext()
        if plant.num_actuators():
            self.u = np.zeros(plant.num_actuators())
            plant.get_actuation_input_port().FixValue(self.context, self.u)
            self.actuator = plant.get_joint_actuator(tree.JointActuatorIndex(0))
        last = case.plant.get_body(case.plant.num_bodies() - 1).name()
        self.body = plant.GetBodyByName(last)
        self.inertia, self.com = self.body.default_spatial_inertia(), self.body.default_com()
        self.frame, self.world = self.body.body_frame(), plant.world_frame()
        self.base = plant.get_body(tree.BodyIndex(1)).body_frame()
        self.joint = next(
            plant.get_joint(index) for index in plant.GetJointIndices() if plant.get_joint(index).num_velocities() == 1
        )
        for index in plant.GetFloatingBaseBodies():
            self.free_body = plant.get_body(index)
            self.free_joint = plant.GetJointByName(self.free_body.name())
        self.by_v, self.by_qdot = tree.JacobianWrtVariable.kV, tree.JacobianWrtVariable.kQDot
        self.instance = self.body.model_instance()
        self.instances = [self.instance]
        self.all_bodies = [tree.BodyIndex(n) for n in range(plant.num_bodies())]
        self.forces, self.sum = tree.MultibodyForces(plant), tree.MultibodyForces(plant)
        self.one = np.full(1, 0.1)
        self.point = np.zeros(3)
        self.points = np.ones((3, 1))
        self.ten_points = np.linspace(-1.0, 1.0, 30).reshape(3, 10)
        self.pose = math.RigidTransform(math.RollPitchYaw(0.1, 0.2, 0.3), np.ones(3))
        self.quaternion = self.pose.rotation().ToQuaternion()
        self.force, self.velocity = spatial.SpatialForce(np.ones(6)), spatial.SpatialVelocity(np.ones(6))
        self.q_v = np.concatenate([case.q[0], case.v[0]])
        plant.SetPositionsAndVelocities(self.context, self.q_v)
        plant.CalcForceElementsContribution(self.context, self.forces)


def drop(result):
    """For what the libraries return differently: a context, the joint itself or nothing."""


def numbers(result):
    """What a call returned, as an array."""
    if isinstance(result, list):
        return np.array([numbers(element) for element in result])
    for name in ("GetAsMatrix4", "get_coeffs", "CopyToVector", "CopyToFullMatrix6", "matrix", "wxyz", "toarray"):
        if hasattr(result, name):
            return getattr(result, name)()
    return np.zeros(0) if result is None else np.asarray(result) + 0.0
