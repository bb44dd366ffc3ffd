"""What the state machine changes: functions of a State and a random generator, the same for mbcli and pydrake.

`CHANGES` sets time, positions and velocities; `PARAMETERS` and `INPUTS` set what a context has beside these. Each gives
its arguments through State.give(), so that they can be changed afterwards.
"""

from importlib import import_module

import numpy as np
from machine_results import any_body, pick

CHANGES, PARAMETERS, INPUTS = {}, {}, {}
OWN_CHANGES = {"set_com"}  # pydrake has them not


def change(kind):
    def register(function):
        kind[function.__name__] = function
        return function

    return register


def random_positions(state, rng):
    """q (nq,) with unit quaternions, or such that are off the unit sphere."""
    q = rng.uniform(-1.0, 1.0, state.plant.num_positions())
    for joint in state.side.joints():
        if joint.type_name() == "quaternion_floating":
            i = joint.position_start()
            q[i : i + 4] *= pick(rng, [1.0, 1.0, 0.7, 1.5]) / np.linalg.norm(q[i : i + 4])
    return q


def random_velocities(state, rng):
    v = rng.normal(size=state.plant.num_velocities())
    for joint in state.side.joints():  # a locked joint stands still
        if joint.is_locked(state.context):
            v[joint.velocity_start() : joint.velocity_start() + joint.num_velocities()] = 0.0
    return v


# ------------------------------------------------------------------------------------------- time and coordinates


@change(CHANGES)
def set_positions(state, rng):
    state.plant.SetPositions(state.context, state.give(random_positions(state, rng)))


@change(CHANGES)
def set_velocities(state, rng):
    state.plant.SetVelocities(state.context, state.give(random_velocities(state, rng)))


@change(CHANGES)
def set_positions_and_velocities(state, rng):
    x = np.concatenate([random_positions(state, rng), random_velocities(state, rng)])
    state.plant.SetPositionsAndVelocities(state.context, state.give(x))


@change(CHANGES)
def set_positions_of_instance(state, rng):
    plant, instance, q = state.plant, pick(rng, state.side.instances), random_positions(state, rng)
    plant.SetPositions(state.context, instance, state.give(plant.GetPositionsFromArray(instance, q)))


@change(CHANGES)
def set_velocities_of_instance(state, rng):
    plant, instance, v = state.plant, pick(rng, state.side.instances), random_velocities(state, rng)
    plant.SetVelocities(state.context, instance, state.give(plant.GetVelocitiesFromArray(instance, v)))


@change(CHANGES)
def set_state(state, rng):
    x = state.give(np.concatenate([random_positions(state, rng), random_velocities(state, rng)]))
    if not state.side.recipe.time_step:
        state.context.SetContinuousState(x)
    elif not state.side.recipe.sampled:
        state.context.SetDiscreteState(x)


@change(CHANGES)
def set_joint(state, rng):
    joints = state.side.moving_joints()
    if not joints:
        return
    joint, context = pick(rng, joints), state.context
    q, v = random_positions(state, rng), random_velocities(state, rng)
    i, d = joint.position_start(), joint.velocity_start()
    if state.lib.library == "mbcli":  # pydrake 1.51 has these methods not for all joints
        joint.SetPositions(context, state.give(q[i : i + joint.num_positions()]))
        joint.SetVelocities(context, state.give(v[d : d + joint.num_velocities()]))
    else:
        x = state.plant.GetPositions(context), state.plant.GetVelocities(context)
        x[0][i : i + joint.num_positions()] = q[i : i + joint.num_positions()]
        x[1][d : d + joint.num_velocities()] = v[d : d + joint.num_velocities()]
        state.plant.SetPositions(context, x[0])
        state.plant.SetVelocities(context, x[1])
    if joint.is_locked(context):
        return
    for name, size in SETTERS.items():
        if hasattr(joint, name):
            size = size if isinstance(size, int) else size[joint.type_name()]
            getattr(joint, name)(
                context, rng.uniform(-1.0, 1.0) if size == 0 else state.give(rng.uniform(-1.0, 1.0, size))
            )
        elif (joint.type_name(), name) == ("screw", "set_rotation"):  # which pydrake does not have
            joint.set_translation(context, rng.uniform(-1.0, 1.0) * joint.screw_pitch() / (2.0 * np.pi))


# the size of what they take, 0: one number; by the type of the joint where types differ
FLOATING = {"quaternion_floating": 3, "rpy_floating": 3}
SETTERS = {
    "set_angle": 0,
    "set_angular_rate": 0,
    "set_angles": {"universal": 2, "ball_rpy": 3, "rpy_floating": 3},
    "set_angular_rates": 2,
    "set_translation": {"prismatic": 0, "screw": 0, "planar": 2},
    "set_translation_rate": 0,
    "set_rotation": 0,
    "set_distance": 0,
    "set_tangential_velocity": 0,
    "set_translational_velocity": {"screw": 0, "planar": 2, **FLOATING},
    "set_angular_velocity": {"screw": 0, "planar": 0, "ball_rpy": 3, **FLOATING},
}


@change(CHANGES)
def set_free_body(state, rng):
    lib = state.lib
    free = [body for body in state.side.bodies if body.is_floating_base_body()]
    if not free:
        return
    body = pick(rng, free)
    X = lib.RigidTransform(lib.RollPitchYaw(rng.uniform(-1.0, 1.0, 3)), state.give(rng.uniform(-1.0, 1.0, 3)))
    state.plant.SetFreeBodyPose(state.context, body, state.give_object(X, lambda X: X.set_translation([9.0, 9.0, 9.0])))
    if not body.is_locked(state.context):
        V = lib.SpatialVelocity(w=state.give(rng.normal(size=3)), v=state.give(rng.normal(size=3)))
        state.plant.SetFreeBodySpatialVelocity(context=state.context, body=body, V_PB=V)


@change(CHANGES)
def set_default_state(state, rng):
    if state.lib.library == "mbcli":
        state.plant.SetDefaultState(state.context)
    else:
        state.plant.SetPositions(state.context, state.plant.GetDefaultPositions())
        state.plant.SetVelocities(state.context, np.zeros(state.plant.num_velocities()))


@change(CHANGES)
def set_time(state, rng):
    state.root.SetTime(pick(rng, [0.0, 0.01, 0.5]))


# --------------------------------------------------------------------------------------------------- parameters


@change(PARAMETERS)
def set_mass(state, rng):
    pick(rng, state.side.bodies[1:]).SetMass(state.context, rng.uniform(1.0, 3.0))


@change(PARAMETERS)
def set_com(state, rng):
    com = state.give(rng.uniform(-0.1, 0.1, 3))
    pick(rng, state.side.bodies[1:]).SetCenterOfMassInBodyFrameAndPreserveCentralInertia(state.context, com)


@change(PARAMETERS)
def set_inertia(state, rng):
    lib, com = state.lib, state.give(rng.uniform(-0.1, 0.1, 3))
    box = lib.UnitInertia.SolidBox(*rng.uniform(0.2, 1.0, 3))
    M = lib.SpatialInertia(rng.uniform(0.5, 3.0), com, box.ShiftFromCenterOfMass(com))
    M = state.give_object(M, lambda M: M.SetNaN())
    pick(rng, state.side.bodies[1:]).SetSpatialInertiaInBodyFrame(state.context, M)


@change(PARAMETERS)
def set_frame_pose(state, rng):
    lib = state.lib
    X = lib.RigidTransform(lib.RollPitchYaw(rng.uniform(-1.0, 1.0, 3)), state.give(rng.uniform(-0.3, 0.3, 3)))
    X = state.give_object(X, lambda X: X.set_translation([9.0, 9.0, 9.0]))
    pick(rng, state.side.offset_frames).SetPoseInParentFrame(state.context, X)


@change(PARAMETERS)
def set_damping(state, rng):
    joints = state.side.moving_joints()
    if not joints:
        return
    joint = pick(rng, joints)
    damping = rng.uniform(0.0, 1.0, joint.num_velocities())
    if joint.type_name() != "planar":  # pydrake 1.51 takes the first of a rotation's and of a translation's
        damping = damping[np.arange(len(damping)) // 3 * 3]
    joint.SetDampingVector(state.context, state.give(damping))


@change(PARAMETERS)
def set_force_element(state, rng):
    elements = [e for e in state.side.elements if any(hasattr(e, name) for name in ELEMENT_SETTERS)]
    if elements:
        element = pick(rng, elements)
        name = pick(rng, [name for name in ELEMENT_SETTERS if hasattr(element, name)])
        is_bushing = name.endswith("Constants")
        getattr(element, name)(
            state.context, state.give(rng.uniform(0.0, 5.0, 3)) if is_bushing else rng.uniform(0.1, 5.0)
        )


ELEMENT_SETTERS = (
    "SetStiffness", "SetNominalAngle", "SetNominalPosition", "SetForceDampingConstants", "SetForceStiffnessConstants",
    "SetTorqueDampingConstants", "SetTorqueStiffnessConstants",
)  # fmt: skip


@change(PARAMETERS)
def set_actuator(state, rng):
    actuators = state.side.actuators()
    if actuators:
        actuator = pick(rng, actuators)
        actuator.SetGearRatio(state.context, rng.uniform(1.0, 10.0))
        actuator.SetRotorInertia(state.context, rng.uniform(0.001, 0.01))


@change(PARAMETERS)
def lock(state, rng):
    joints = state.side.moving_joints()
    if joints and state.side.recipe.time_step:
        pick(rng, joints).Lock(state.context)


@change(PARAMETERS)
def unlock(state, rng):
    joints = state.side.moving_joints()
    if joints and state.side.recipe.time_step:
        pick(rng, joints).Unlock(state.context)


@change(PARAMETERS)
def set_constraint_status(state, rng):
    if state.side.constraints:
        id = pick(rng, state.side.constraints)
        state.plant.SetConstraintActiveStatus(state.context, id, bool(rng.random() < 0.5))


# ------------------------------------------------------------------------------------------------------- inputs


@change(INPUTS)
def fix_actuation(state, rng):
    u = state.give(rng.normal(size=state.plant.num_actuators()))
    state.plant.get_actuation_input_port().FixValue(state.context, u)


@change(INPUTS)
def fix_actuation_of_instance(state, rng):
    instance = pick(rng, state.side.instances)
    u = state.give(rng.normal(size=state.plant.num_actuators(instance)))
    state.plant.get_actuation_input_port(instance).FixValue(state.context, u)


@change(INPUTS)
def fix_generalized_force(state, rng):
    tau = state.give(rng.normal(size=state.plant.num_velocities()))
    state.plant.get_applied_generalized_force_input_port().FixValue(state.context, tau)


@change(INPUTS)
def fix_spatial_forces(state, rng):
    lib, forces = state.lib, []
    for _ in range(rng.integers(0, 3)):
        force = lib.ExternallyAppliedSpatialForce()
        force.body_index = any_body(state, rng).index()
        force.p_BoBq_B = state.give(rng.normal(size=3))
        F = lib.SpatialForce(state.give(rng.normal(size=3)), state.give(rng.normal(size=3)))
        force.F_Bq_W = state.give_object(F, lambda F: F.SetZero())
        forces.append(state.give_object(force, spoil_force))
    value = forces
    if lib.library != "mbcli":
        Value = import_module(f"{lib.library}.common.value").Value
        value = Value[list[lib.ExternallyAppliedSpatialForce]](forces)
    state.plant.get_applied_spatial_force_input_port().FixValue(state.context, value)
    state.give_object(forces, lambda forces: forces.clear())


def spoil_force(force):
    force.p_BoBq_B = np.full(3, 11.0)
    force.body_index = type(force.body_index)(0)


@change(INPUTS)
def fix_desired_states(state, rng):
    if state.side.recipe.drive == "controlled":
        for instance in state.side.instances:
            x = state.give(rng.normal(size=2 * state.plant.num_actuators(instance)))
            state.plant.get_desired_state_input_port(instance).FixValue(state.context, x)
