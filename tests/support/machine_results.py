"""What the state machine asks a plant: functions of a State and a random generator, the same for mbcli and pydrake.

`RESULTS` has them by the names of what they call; a test holds that no public query is missing.
"""

import numpy as np

RESULTS = {}
OWN = set()  # names in RESULTS that pydrake has not


def result(*names, own=False):
    """Registers a function of (state, rng) -> results, under the public names that it calls."""

    def register(function):
        RESULTS[names] = function
        if own:
            OWN.add(names)
        return function

    return register


def numbers(value):
    """All numbers of a result as arrays, whatever objects hold them."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [x for key in sorted(value) for x in numbers(value[key])]
    if isinstance(value, (list, tuple)):
        return [x for element in value for x in numbers(element)]
    for method in (
        "GetAsMatrix4",
        "CopyToFullMatrix6",
        "CopyToFullMatrix3",
        "get_coeffs",
        "matrix",
        "wxyz",
        "CopyToVector",
    ):
        if hasattr(value, method):
            return [np.array(getattr(value, method)())]
    return [np.array(value, dtype=float)]


def arrays_in(value):
    """The arrays themselves, and those that objects give out."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (list, tuple)):
        return [x for element in value for x in arrays_in(element)]
    names = ("matrix", "get_coeffs", "translation", "rotational", "translational", "wxyz", "get_com", "CopyToVector")
    return [x for name in names if hasattr(value, name) for x in arrays_in(getattr(value, name)())]


def pick(rng, things):
    return things[rng.integers(len(things))]


def any_frame(state, rng):
    return pick(rng, state.side.frames)


def any_body(state, rng):
    return pick(rng, state.side.bodies)


def points_of(state, rng):
    """(3, n), or one (3,)."""
    return state.give(rng.normal(size=(3, rng.integers(1, 4))) if rng.random() < 0.5 else rng.normal(size=3))


def variable(state, rng):
    return pick(rng, [state.lib.JacobianWrtVariable.kV, state.lib.JacobianWrtVariable.kQDot])


def instances(state, rng):
    return state.side.instances[: rng.integers(1, 3)]


def random_forces(state, rng):
    """MultibodyForces with a force on one body, or what force elements give, or both."""
    lib, forces = state.lib, state.lib.MultibodyForces(state.plant)
    if rng.random() < 0.5:
        state.plant.CalcForceElementsContribution(state.context, forces)
    if rng.random() < 0.7:
        F = lib.SpatialForce(state.give(rng.normal(size=3) * 3.0), state.give(rng.normal(size=3) * 3.0))
        any_body(state, rng).AddInForceInWorld(state.context, F, forces)
    if rng.random() < 0.5:
        forces.mutable_generalized_forces()[:] += rng.normal(size=state.plant.num_velocities())
    return state.give_object(forces, spoil_forces)


def spoil_forces(forces):
    forces.mutable_generalized_forces()[:] = 1e3


def forces_in(state, forces):
    return [forces.generalized_forces(), [body.GetForceInWorld(state.context, forces) for body in state.side.bodies]]


# ------------------------------------------------------------------------------------------------- coordinates


@result("GetPositions", "GetVelocities", "GetPositionsAndVelocities")
def coordinates(state, rng):
    plant, context = state.plant, state.context
    chosen = instances(state, rng)[-1:]
    get = (plant.GetPositions, plant.GetVelocities, plant.GetPositionsAndVelocities)
    return [method(context, *part) for method in get for part in ([], chosen)]


@result("get_continuous_state_vector", "get_discrete_state_vector", "get_time")
def state_vector(state, rng):
    context = state.context
    if state.side.recipe.sampled:
        return context.get_time()
    x = context.get_discrete_state_vector() if state.side.recipe.time_step else context.get_continuous_state_vector()
    return x.CopyToVector(), context.get_time()


@result("MapQDotToVelocity", "MapVelocityToQDot", "MakeQDotToVelocityMap", "MakeVelocityToQDotMap")
def rates(state, rng):
    plant, context = state.plant, state.context
    v, qdot = state.give(rng.normal(size=plant.num_velocities())), state.give(rng.normal(size=plant.num_positions()))
    maps = plant.MakeVelocityToQDotMap(context), plant.MakeQDotToVelocityMap(context)
    maps = [x.toarray() if hasattr(x, "toarray") else x for x in maps]
    return plant.MapVelocityToQDot(context, v), plant.MapQDotToVelocity(context, qdot), maps


JOINT_GETTERS = (
    "get_angle", "get_angular_rate", "get_translation", "get_translation_rate", "get_rotation",
    "get_translational_velocity", "get_angular_velocity", "get_angles", "get_angular_rates", "get_quaternion",
    "get_distance", "get_tangential_velocity", "GetOnePosition", "GetOneVelocity",
)  # fmt: skip


@result(
    *JOINT_GETTERS, "GetDamping", "GetDampingVector", "is_locked", "GetFreeBodyPose",
)  # fmt: skip
def joints(state, rng):
    joint, context = pick(rng, state.side.joints()), state.context
    found = [
        getattr(joint, name)(context)
        for name in JOINT_GETTERS
        if hasattr(joint, name) and (not name.startswith("GetOne") or joint.num_velocities() == 1)
    ]
    if joint.num_velocities() == 1:
        found.append(joint.GetDamping(context))
    for body in state.side.bodies:
        if body.is_floating_base_body():
            found.append(state.plant.GetFreeBodyPose(context, body))
    return found, joint.GetDampingVector(context), float(joint.is_locked(context))


@result("GetPose", "GetSpatialVelocity", own=True)
def positions_of_joint(state, rng):
    joint = pick(rng, state.side.joints())
    found = joint.GetPositions(state.context), joint.GetVelocities(state.context)
    return found, joint.GetPose(state.context), joint.GetSpatialVelocity(state.context)


@result("defaults", own=True)
def defaults(state, rng):
    """Numbers of the plant itself."""
    plant, found = state.plant, [state.plant.GetDefaultPositions(), state.plant.gravity_field().gravity_vector()]
    for joint in state.side.joints():
        found += [joint.default_positions(), joint.position_lower_limits(), joint.position_upper_limits()]
        found += [joint.velocity_lower_limits(), joint.acceleration_upper_limits(), joint.default_damping_vector()]
        found += [getattr(joint, name)() for name in ("axis", "GetDefaultPose", "X_FM") if _has(joint, name)]
    for frame in state.side.offset_frames:
        found.append(frame.GetFixedPoseInBodyFrame())
    for element in state.side.elements:
        found += [
            getattr(element, name)()
            for name in ("p_AP", "p_BQ", "torque_stiffness_constants")
            if hasattr(element, name)
        ]
    for body in state.side.bodies[1:]:
        found += [body.default_spatial_inertia(), body.default_com(), body.default_unit_inertia()]
    return found, plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits(), plant.MakeActuationMatrix()


def _has(joint, name):
    return hasattr(joint, name) and (name != "GetDefaultPose" or joint.num_velocities() == 6)


# -------------------------------------------------------------------------------------------------- kinematics


@result("EvalBodyPoseInWorld", "EvalBodySpatialVelocityInWorld", "EvalPoseInWorld", "EvalSpatialVelocityInWorld")
def motion_of_body(state, rng):
    body, plant, context = any_body(state, rng), state.plant, state.context
    own = body.EvalPoseInWorld(context), body.EvalSpatialVelocityInWorld(context)
    return plant.EvalBodyPoseInWorld(context, body), plant.EvalBodySpatialVelocityInWorld(context, body), own


@result("EvalBodySpatialAccelerationInWorld", "EvalSpatialAccelerationInWorld")
def acceleration_of_body(state, rng):
    body = any_body(state, rng)
    own = body.EvalSpatialAccelerationInWorld(state.context)
    return state.plant.EvalBodySpatialAccelerationInWorld(state.context, body), own


@result("CalcSpatialAccelerationsFromVdot")
def accelerations_from_vdot(state, rng):
    return state.plant.CalcSpatialAccelerationsFromVdot(
        state.context, state.give(rng.normal(size=state.plant.num_velocities()))
    )


@result("CalcRelativeTransform", "CalcRelativeRotationMatrix", "CalcPointsPositions", "CalcPointsVelocities")
def points(state, rng):
    plant, context, (A, B, E) = state.plant, state.context, (any_frame(state, rng) for _ in range(3))
    p = points_of(state, rng)
    # pydrake 1.51 has no CalcPointsVelocities
    found = [plant.CalcRelativeTransform(context, A, B), plant.CalcRelativeRotationMatrix(context, A, B)]
    if hasattr(plant, "CalcPointsVelocities"):
        plant.CalcPointsVelocities(context, B, p, A, E)
    return found, plant.CalcPointsPositions(context, B, p, A)


@result("CalcPointsVelocities alone", own=True)
def velocities_of_points(state, rng):
    A, B, E = (any_frame(state, rng) for _ in range(3))
    return state.plant.CalcPointsVelocities(state.context, B, points_of(state, rng), A, E)


@result("CalcPoseInWorld", "CalcPose", "CalcRotationMatrix", "CalcRotationMatrixInWorld", "CalcPoseInBodyFrame")
def poses_of_frame(state, rng):
    A, F, context = any_frame(state, rng), any_frame(state, rng), state.context
    rotations = F.CalcRotationMatrix(context, A), F.CalcRotationMatrixInWorld(context)
    return F.CalcPoseInWorld(context), F.CalcPose(context, A), rotations, F.CalcPoseInBodyFrame(context)


@result(
    "CalcOffsetPoseInBody", "CalcOffsetRotationMatrixInBody", "CalcRotationMatrixInBodyFrame", "GetPoseInParentFrame",
)  # fmt: skip
def offsets_of_frame(state, rng):
    F, context, lib = any_frame(state, rng), state.context, state.lib
    X = lib.RigidTransform(lib.RollPitchYaw(rng.normal(size=3)), state.give(rng.normal(size=3)))
    offset = pick(rng, state.side.offset_frames)
    found = [offset.GetPoseInParentFrame(context), F.CalcRotationMatrixInBodyFrame(context)]
    return found, F.CalcOffsetPoseInBody(context, X), F.CalcOffsetRotationMatrixInBody(context, X.rotation())


@result(
    "EvalAngularVelocityInWorld", "CalcAngularVelocity", "CalcSpatialVelocityInWorld", "CalcSpatialVelocity",
    "CalcRelativeSpatialVelocityInWorld", "CalcRelativeSpatialVelocity",
)  # fmt: skip
def velocities_of_frame(state, rng):
    (A, B, E, F), context = (any_frame(state, rng) for _ in range(4)), state.context
    return [
        F.EvalAngularVelocityInWorld(context),
        F.CalcAngularVelocity(context, A, E),
        F.CalcSpatialVelocityInWorld(context),
        F.CalcSpatialVelocity(context, A, E),
        F.CalcRelativeSpatialVelocityInWorld(context, B),
        F.CalcRelativeSpatialVelocity(context, B, A, E),
    ]


@result(
    "CalcSpatialAccelerationInWorld", "CalcSpatialAcceleration", "CalcRelativeSpatialAccelerationInWorld",
    "CalcRelativeSpatialAcceleration",
)  # fmt: skip
def accelerations_of_frame(state, rng):
    (A, B, E, F), context = (any_frame(state, rng) for _ in range(4)), state.context
    return [
        F.CalcSpatialAccelerationInWorld(context),
        F.CalcSpatialAcceleration(context, A, E),
        F.CalcRelativeSpatialAccelerationInWorld(context, B),
        F.CalcRelativeSpatialAcceleration(context, B, A, E),
    ]


# --------------------------------------------------------------------------------------------------- Jacobians


@result(
    "CalcJacobianAngularVelocity", "CalcJacobianTranslationalVelocity", "CalcJacobianSpatialVelocity",
    "CalcJacobianPositionVector",
)  # fmt: skip
def jacobians(state, rng):
    (A, B, E), plant, context, s = (
        (any_frame(state, rng) for _ in range(3)),
        state.plant,
        state.context,
        variable(state, rng),
    )
    point = state.give(rng.normal(size=3))
    return [
        plant.CalcJacobianAngularVelocity(context, s, B, A, E),
        plant.CalcJacobianTranslationalVelocity(context, s, B, points_of(state, rng), A, E),
        plant.CalcJacobianSpatialVelocity(context, s, B, point, A, E),
        plant.CalcJacobianPositionVector(context, B, point, A, E),
    ]


@result("CalcBiasSpatialAcceleration", "CalcBiasTranslationalAcceleration")
def biases(state, rng):
    (A, B, E), plant, context = (any_frame(state, rng) for _ in range(3)), state.plant, state.context
    kV, point = state.lib.JacobianWrtVariable.kV, state.give(rng.normal(size=3))
    return [
        plant.CalcBiasSpatialAcceleration(context, kV, B, point, A, E),
        plant.CalcBiasTranslationalAcceleration(context, kV, B, points_of(state, rng), A, E),
    ]


@result("CalcJacobianCenterOfMassTranslationalVelocity", "CalcBiasCenterOfMassTranslationalAcceleration")
def com_jacobians(state, rng):
    plant, context, W = state.plant, state.context, state.plant.world_frame()
    A, E, kV = W, any_frame(state, rng), state.lib.JacobianWrtVariable.kV
    return [
        plant.CalcJacobianCenterOfMassTranslationalVelocity(context, variable(state, rng), A, E),
        plant.CalcBiasCenterOfMassTranslationalAcceleration(context, kV, A, E),
    ]


# ---------------------------------------------------------------------------------------------- mass properties


@result(
    "CalcTotalMass", "CalcCenterOfMassPositionInWorld", "CalcCenterOfMassTranslationalVelocityInWorld",
    "CalcSpatialMomentumInWorldAboutPoint",
)  # fmt: skip
def mass_properties(state, rng):
    plant, context = state.plant, state.context
    about = state.give(rng.normal(size=3))
    return [
        plant.CalcTotalMass(context),
        plant.CalcCenterOfMassPositionInWorld(context),
        plant.CalcCenterOfMassTranslationalVelocityInWorld(context),
        plant.CalcSpatialMomentumInWorldAboutPoint(context, about),
        plant.CalcTotalMass(context, instances(state, rng)),
        plant.CalcSpatialMomentumInWorldAboutPoint(context, instances(state, rng), about),
    ]


@result("CalcCenterOfMassTranslationalAccelerationInWorld")
def com_acceleration(state, rng):
    return state.plant.CalcCenterOfMassTranslationalAccelerationInWorld(state.context)


@result("CalcSpatialInertia")
def spatial_inertia(state, rng):
    return state.plant.CalcSpatialInertia(
        state.context, any_frame(state, rng), [b.index() for b in state.side.bodies[1:]]
    )


@result("CalcArticulatedBodyInertias", own=True)
def articulated_inertias(state, rng):
    return state.plant.CalcArticulatedBodyInertias(state.context)


@result("get_mass", "CalcCenterOfMassInBodyFrame", "CalcSpatialInertiaInBodyFrame")
def inertia_of_body(state, rng):
    body, context = pick(rng, state.side.bodies[1:]), state.context
    return (
        body.get_mass(context),
        body.CalcCenterOfMassInBodyFrame(context),
        body.CalcSpatialInertiaInBodyFrame(context),
    )


@result("CalcCenterOfMassTranslationalVelocityInWorld of a body")
def com_velocity_of_body(state, rng):
    return pick(rng, state.side.bodies[1:]).CalcCenterOfMassTranslationalVelocityInWorld(state.context)


@result("CalcCenterOfMassTranslationalAccelerationInWorld of a body")
def com_acceleration_of_body(state, rng):
    return pick(rng, state.side.bodies[1:]).CalcCenterOfMassTranslationalAccelerationInWorld(state.context)


# ---------------------------------------------------------------------------------------------------- dynamics


@result("CalcMassMatrix")
def mass_matrix(state, rng):
    return state.plant.CalcMassMatrix(state.context)


@result("CalcMassMatrixViaInverseDynamics")
def mass_matrix_by_inverse_dynamics(state, rng):
    return state.plant.CalcMassMatrixViaInverseDynamics(state.context)


@result("CalcBiasTerm")
def bias_term(state, rng):
    return state.plant.CalcBiasTerm(state.context)


@result("CalcGravityGeneralizedForces")
def gravity(state, rng):
    return state.plant.CalcGravityGeneralizedForces(state.context)


@result("CalcInverseDynamics")
def inverse_dynamics(state, rng):
    vdot = state.give(rng.normal(size=state.plant.num_velocities()))
    return state.plant.CalcInverseDynamics(state.context, vdot, random_forces(state, rng))


@result("CalcReactionForces", own=True)
def reactions_of_motion(state, rng):
    vdot = state.give(rng.normal(size=state.plant.num_velocities()))
    return state.plant.CalcReactionForces(state.context, vdot, random_forces(state, rng))


@result("CalcForceElementsContribution")
def force_elements(state, rng):
    forces = state.lib.MultibodyForces(state.plant)
    state.plant.CalcForceElementsContribution(state.context, forces)
    found = forces_in(state, forces)
    state.give_object(forces, spoil_forces)
    return found


@result("CalcGeneralizedForces")
def generalized_forces(state, rng):
    return state.plant.CalcGeneralizedForces(state.context, random_forces(state, rng))


@result("AddInForce", "AddInForceInWorld", "AddInOneForce", "AddInDamping", "GetForceInWorld")
def added_forces(state, rng):
    lib, context, forces = state.lib, state.context, random_forces(state, rng)
    F = lib.SpatialForce(state.give(rng.normal(size=3)), state.give(rng.normal(size=3)))
    any_body(state, rng).AddInForce(context, state.give(rng.normal(size=3)), F, any_frame(state, rng), forces)
    for joint in state.side.moving_joints():
        if joint.num_velocities() == 1:  # the damping of other joints replaces forces in pydrake 1.51
            joint.AddInDamping(context, forces)
            joint.AddInOneForce(context, 0, rng.normal(), forces)
    return forces_in(state, forces)


@result("AddInDamping of all joints", own=True)
def damping_forces(state, rng):
    forces = random_forces(state, rng)
    for joint in state.side.moving_joints():
        joint.AddInDamping(state.context, forces)
    return forces_in(state, forces)


@result("EvalTimeDerivatives")
def time_derivatives(state, rng):
    if state.side.recipe.time_step:
        return None
    return state.plant.EvalTimeDerivatives(state.context)


@result("CalcForwardDynamics", "CalcAccelerations", own=True)
def accelerations(state, rng):
    plant, context, nv = state.plant, state.context, state.plant.num_velocities()
    u, tau = state.give(rng.normal(size=plant.num_actuators())), state.give(rng.normal(size=nv))
    F = state.give(rng.normal(size=(plant.num_bodies(), 6)))
    return plant.CalcForwardDynamics(context), plant.CalcAccelerations(context, tau, u, F)


@result("CalcRequiredForces", own=True)
def required_forces(state, rng):
    plant, (gravity, springs, damping) = state.plant, rng.random(3) < 0.5
    F = state.give(rng.normal(size=(plant.num_bodies(), 6))) if rng.random() < 0.5 else None
    vdot = state.give(rng.normal(size=plant.num_velocities()))
    return plant.CalcRequiredForces(
        state.context, vdot, gravity=gravity, springs=springs, damping=damping, body_forces=F
    )


@result("CalcDerivatives", own=True)
def derivatives(state, rng):
    calculation = pick(rng, ["mass_matrix", "bias_term", "inverse_dynamics"])
    return state.plant.CalcDerivatives(state.context, calculation)


@result("FirstOrderTaylorApproximation", "Linearize", own=True)
def linearization(state, rng):
    from mbcli.systems.primitives import FirstOrderTaylorApproximation, OutputPortSelection

    recipe = state.side.recipe
    if (recipe.constraints or recipe.contact or recipe.robot) and state.plant.num_velocities() > 2:
        return None  # by complex steps of interpreted kernels it takes seconds
    system = FirstOrderTaylorApproximation(
        state.plant, state.context, output_port_index=OutputPortSelection.kNoOutput
    )  # Linearize() refuses all but rest
    return system.A(), system.B(), system.f0()


@result("CalcKineticEnergy", "CalcPotentialEnergy", "EvalKineticEnergy", "EvalPotentialEnergy")
def energies(state, rng):
    plant, context = state.plant, state.context
    return [plant.EvalKineticEnergy(context), plant.EvalPotentialEnergy(context)]


@result("CalcConservativePower", "CalcNonConservativePower", "EvalConservativePower", "EvalNonConservativePower")
def power(state, rng):
    plant, context = state.plant, state.context
    if state.lib.library == "pydrake":  # which only has these names
        return plant.CalcConservativePower(context), plant.CalcNonConservativePower(context)
    return plant.EvalConservativePower(context), plant.EvalNonConservativePower(context)


@result("CalcJointDampingPower", own=True)
def damping_power(state, rng):
    return state.plant.CalcJointDampingPower(state.context)


@result("CalcBodyEnergies", own=True)
def energies_of_bodies(state, rng):
    return state.plant.CalcBodyEnergies(state.context)


@result("force element", "CalcAndAddForceContribution", own=True)
def one_force_element(state, rng):
    elements, context = [state.plant.gravity_field(), *state.side.elements], state.context
    element, forces = pick(rng, elements), random_forces(state, rng)
    element.CalcAndAddForceContribution(context, forces)
    found = forces_in(state, forces)
    if hasattr(element, "CalcBushingSpatialForceOnFrameA"):
        return found, element.CalcBushingSpatialForceOnFrameA(context), element.CalcBushingSpatialForceOnFrameC(context)
    names = ("CalcPotentialEnergy", "CalcConservativePower", "CalcNonConservativePower")
    return found, [getattr(element, name)(context) for name in names]


GETTERS = (
    "GetStiffness", "GetNominalAngle", "GetNominalPosition", "GetForceDampingConstants", "GetForceStiffnessConstants",
    "GetTorqueDampingConstants", "GetTorqueStiffnessConstants", "gear_ratio", "rotor_inertia",
    "calc_reflected_inertia",
)  # fmt: skip


@result(*GETTERS)
def parameters(state, rng):
    elements = [*state.side.elements, *state.side.actuators()]
    return [getattr(e, name)(state.context) for e in elements for name in GETTERS if hasattr(e, name)]


@result("GetConstraintActiveStatus")
def constraint_status(state, rng):
    return [float(state.plant.GetConstraintActiveStatus(state.context, id)) for id in state.side.constraints]


# ------------------------------------------------------------------------------------------------------- ports


@result("state output ports")
def state_ports(state, rng):
    plant, context = state.plant, state.context
    poses = plant.get_body_poses_output_port().Eval(context)
    velocities = plant.get_body_spatial_velocities_output_port().Eval(context)
    return plant.get_state_output_port().Eval(context), list(poses), list(velocities)


@result("acceleration output ports")
def acceleration_ports(state, rng):
    plant, context = state.plant, state.context
    found = [
        plant.get_generalized_acceleration_output_port().Eval(context),
        list(plant.get_body_spatial_accelerations_output_port().Eval(context)),
    ]
    return found, plant.get_generalized_acceleration_output_port(state.side.instances[0]).Eval(context)


@result("actuation output ports")
def actuation_ports(state, rng):
    ports = [
        state.plant.get_net_actuation_output_port(),
        state.plant.get_net_actuation_output_port(state.side.instances[1]),
    ]
    return [port.Eval(state.context) for port in ports]


@result("reaction forces output port")
def reaction_forces(state, rng):
    return list(state.plant.get_reaction_forces_output_port().Eval(state.context))


@result("contact output ports")
def contact_ports(state, rng):
    if not state.side.recipe.contact:
        return None
    results = state.plant.get_contact_results_output_port().Eval(state.context)
    found = [results.point_pair_contact_info(k) for k in range(results.num_point_pair_contacts())]
    forces = [
        state.plant.get_generalized_contact_forces_output_port(k).Eval(state.context) for k in state.side.instances
    ]
    total = sum((sign(info) * info.contact_force() for info in found), np.zeros(3))
    return len(found), total, forces


def sign(info):
    """Body A and B come in any order."""
    return 1.0 if int(info.bodyA_index()) < int(info.bodyB_index()) else -1.0


@result("input ports", own=True)
def input_ports(state, rng):
    plant, context = state.plant, state.context
    ports = [plant.get_actuation_input_port(), plant.get_applied_generalized_force_input_port()]
    return [port.Eval(context) for port in ports if port.HasValue(context)]
