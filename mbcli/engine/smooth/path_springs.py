"""Springs and dampers along paths over points and solids: of tendons that are not one straight line.

    force = -k (l - l_0) - d l',   l_0 the length l within the two between which the spring is slack

as https://mujoco.readthedocs.io/en/stable/XMLreference.html#tendon-spatial has it. Their paths are transmissions
without an input, behind those of actuators.
"""

from mbcli.engine.fields.model_fields import LAW_SPRING, NUMBERS_BIAS, TRANSMISSION_BIAS
from mbcli.engine.runtime.kernel import kernel, slot
from mbcli.engine.smooth.transmissions import measure, measure_transmission

# columns of the numbers of its bias
STIFFNESS, DAMPING, REST_LOW, REST_HIGH = range(4)


@kernel
def stretch_of_path(model, data, n):
    """Beyond the lengths without force, negative below them; after measure_transmission."""
    numbers, k = model.transmission_numbers, NUMBERS_BIAS
    low, high = numbers[n, k + REST_LOW], numbers[n, k + REST_HIGH]
    length = data.transmission_length[n]
    if length.real < low.real:
        return length - low
    return length - high if length.real > high.real else 0.0 * length


@kernel
def stiffness_and_damping(model, data, n):
    """As they act, the first not where the spring is slack; after measure_transmission."""
    numbers, k = model.transmission_numbers, NUMBERS_BIAS
    stretch, stiffness = stretch_of_path(model, data, n), numbers[n, k + STIFFNESS]
    return stiffness if stretch.real != 0.0 else 0.0 * stiffness, numbers[n, k + DAMPING]


@slot(plain="smooth.plain.add_path_springs", lanes="smooth.plain.add_path_springs")
def add_path_springs(model, data, F, at_links):
    """F += their forces, as add_forces_between(). After velocity_kinematics."""
    for n in range(model.transmission_kinds.shape[0]):
        if model.transmission_kinds[n, TRANSMISSION_BIAS] == LAW_SPRING:
            measure_transmission(model, data, n)
            numbers, k = model.transmission_numbers, NUMBERS_BIAS
            force = -numbers[n, k + STIFFNESS] * stretch_of_path(model, data, n)
            force -= numbers[n, k + DAMPING] * data.transmission_rate[n]
            pull_along_path(model, data, n, force, F, 1 if at_links else 2)


@kernel
def pull_along_path(model, data, n, force, F, at_links):
    """F += what a force along the path of transmission n does, see measure()."""
    data.transmission_force[n] = force
    measure(model, data, n, F, at_links)
    data.transmission_force[n] = 0.0 * force  # no actuator gives it


@slot(plain="smooth.plain.path_spring_powers", lanes="smooth.plain.path_spring_powers")
def path_spring_powers(model, data):
    """Energy [J] that they store, power [W] of what stores it and of the dampers. After velocity_kinematics."""
    numbers, k = model.transmission_numbers, NUMBERS_BIAS
    energy = stored = lost = data.V[0, 0]  # of World: zero, in the scalar type of the data
    for n in range(model.transmission_kinds.shape[0]):
        if model.transmission_kinds[n, TRANSMISSION_BIAS] == LAW_SPRING:
            measure_transmission(model, data, n)
            stretch, rate = stretch_of_path(model, data, n), data.transmission_rate[n]
            pull = numbers[n, k + STIFFNESS] * stretch
            energy = energy + 0.5 * pull * stretch
            stored = stored - pull * rate
            lost = lost - numbers[n, k + DAMPING] * rate * rate
    return energy, stored, lost
