"""Energy, power and momentum, summed over bodies."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.force_elements import element_conservative_power, element_energy
from mbcli.engine.smooth.inertia import gravity_vector, inertia_times, weight_about_reference
from mbcli.engine.smooth.joint_forces import spring_stretch
from mbcli.engine.smooth.spatial import add, dot, rotate, row3, scale
from mbcli.engine.smooth.stops import stop_energy, stop_spring_power


@kernel
def total_energy(model, data):
    """energy = (kinetic, potential of gravity and force elements) [J]. After velocity_kinematics and world_inertias.

    The kinetic energy counts the reflected inertia of actuators; the potential energy is zero at the world's origin.
    Bushings have none: their forces are not conservative.
    """
    g = gravity_vector(model)
    kinetic = data.V[0, 0]  # of World: zero, in the scalar type of the data
    potential = element_energy(model, data) + stop_energy(model, data) + model.spring_energy[0]
    for b in range(1, model.body_parent.shape[0]):
        w, v = row3(data.V, b, 0), row3(data.V, b, 3)
        h, l = inertia_times(data.inertia, b, w, v)
        kinetic = kinetic + 0.5 * (dot(w, h) + dot(v, l))
    for b in range(model.body_parent.shape[0]):  # bodies welded to World have their height too
        m = model.gravitating_mass[b, 0]
        moment = rotate(data.X_WB, b, row3(model.gravitating_mass, b, 1))
        potential = potential - dot(g, add(moment, scale(m, row3(data.X_WB, b, 9))))
    for d in range(data.v.shape[0]):
        kinetic = kinetic + 0.5 * model.dof_armature[d] * data.v[d] * data.v[d]
        stretch = spring_stretch(model, data.q, d)
        potential = potential + 0.5 * model.dof_stiffness[d] * stretch * stretch
    data.energy[0] = kinetic
    data.energy[1] = potential


@kernel
def conservative_power(model, data):
    """Rate at which gravity and the springs of force elements do work on the system [W]. After velocity_kinematics."""
    g = gravity_vector(model)
    power = element_conservative_power(model, data) + stop_spring_power(model, data)
    for b in range(1, model.body_parent.shape[0]):
        m, h = weight_about_reference(model, data, b)
        w, v = row3(data.V, b, 0), row3(data.V, b, 3)
        # velocity of the mass under gravity, times that mass: m v + w x h
        power = power + dot(g, scale(m, v))
        power = power + (
            g[0] * (w[1] * h[2] - w[2] * h[1]) + g[1] * (w[2] * h[0] - w[0] * h[2]) + g[2] * (w[0] * h[1] - w[1] * h[0])
        )
    for d in range(data.v.shape[0]):
        stretch = spring_stretch(model, data.q, d)
        power = power - model.dof_stiffness[d] * stretch * data.v[d]
    return power
