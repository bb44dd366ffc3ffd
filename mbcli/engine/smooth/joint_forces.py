"""Forces that joints carry in themselves: viscous damping, springs on their coordinates, compliant stops;
and those that actuators put on them."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.rotations.quaternion import rotation_vector
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.stops import add_stop_forces


@kernel
def spring_stretch(model, q, d):
    """[rad or m] of the spring at velocity d: q - nominal; of a ball joint its rotation vector along that axis of F."""
    if model.dof_ball[d, 0] < 0:
        return q[model.dof_q[d]] - model.dof_nominal[d]
    return rotation_vector(q, model.dof_ball[d, 0])[model.dof_ball[d, 1]]


@kernel
def add_joint_forces(model, data):
    """tau += -damping * v - stiffness * stretch, and forces of stops."""
    for d in range(data.v.shape[0]):
        if is_asleep(data, model.dof_body[d]):
            continue
        data.tau[d] -= model.dof_damping[d] * data.v[d] + model.dof_stiffness[d] * spring_stretch(model, data.q, d)
    add_stop_forces(model, data, 1.0)


@kernel
def add_actuation(model, data):
    """tau += u of the actuators on joints."""
    for k in range(model.actuator_dof.shape[0]):
        data.tau[model.actuator_dof[k]] += data.u[k]


@kernel
def damping_power(model, data):
    """Rate at which joint damping does work on the system [W]: not positive."""
    power = data.V[0, 0]  # of World: zero, in the scalar type of the data
    for d in range(data.v.shape[0]):
        power = power - model.dof_damping[d] * data.v[d] * data.v[d]
    return power
