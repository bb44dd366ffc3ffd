"""One small plant with any of the force elements, built from mbcli or from pydrake by the same lines.

A door and a drawer on it, a shelf welded to the drawer, and a free ball: joints off the bodies' origins, centres of
mass off them too, two model instances.
"""

from types import SimpleNamespace

import numpy as np

ELEMENTS = ("revolute_spring", "prismatic_spring", "spring_damper", "spring_to_world", "hinge", "bushing")


def mbcli():
    import mbcli.math
    import mbcli.multibody.math
    import mbcli.multibody.plant
    import mbcli.multibody.tree

    return _names(mbcli.math, mbcli.multibody.math, mbcli.multibody.tree, mbcli.multibody.plant)


def pydrake():
    import pydrake.math
    import pydrake.multibody.math
    import pydrake.multibody.plant
    import pydrake.multibody.tree

    return _names(pydrake.math, pydrake.multibody.math, pydrake.multibody.tree, pydrake.multibody.plant)


def _names(*modules):
    return SimpleNamespace(**{name: getattr(module, name) for module in modules for name in dir(module)})


def inertia(lib, mass, com, moments):
    central = lib.RotationalInertia(*moments)
    return lib.SpatialInertia.MakeFromCentralInertia(mass, com, central)


def scene(lib, elements=ELEMENTS, *, time_step=0.0, damping=0.3, gravity=(0.3, -0.2, -9.0), constants=None, more=None):
    """A finalized plant.

    Args:
        lib: what mbcli() or pydrake() returns.
        elements: names out of ELEMENTS.
        constants: of the bushing, four triples.
        more: called with lib and the plant before Finalize().
    """
    plant = lib.MultibodyPlant(time_step)
    plant.mutable_gravity_field().set_gravity_vector(gravity)
    house, toys = plant.AddModelInstance("house"), plant.AddModelInstance("toys")
    door = plant.AddRigidBody("door", house, inertia(lib, 3.0, [0.3, 0.1, -0.2], [0.3, 0.4, 0.2, 0.01, 0.02, -0.03]))
    drawer = plant.AddRigidBody("drawer", house, inertia(lib, 1.5, [0.1, -0.2, 0.1], [0.05, 0.06, 0.07]))
    shelf = plant.AddRigidBody("shelf", house, inertia(lib, 0.5, [0.0, 0.1, 0.1], [0.02, 0.03, 0.03]))
    ball = plant.AddRigidBody("ball", toys, inertia(lib, 1.2, [0.05, 0.02, -0.03], [0.06, 0.05, 0.04, 0.002, 0.0, 0.0]))

    def frame(name, parent, rpy, p):
        pose = lib.RigidTransform(lib.RollPitchYaw(*rpy), p)
        return plant.AddFrame(lib.FixedOffsetFrame(name, parent.body_frame(), pose))

    jamb = frame("jamb", plant.world_body(), [0.1, 0.2, 0.3], [1.0, 0.5, -0.3])
    hinge = frame("hinge", door, [-0.3, 0.1, 0.2], [0.1, 0.2, 0.3])
    swing = plant.AddJoint(lib.RevoluteJoint("swing", jamb, hinge, [0.0, 0.6, 0.8], damping))
    rail = frame("rail", door, [0.5, -0.4, 0.1], [0.3, 0.0, 0.2])
    runner = frame("runner", drawer, [0.2, 0.2, 0.2], [-0.1, 0.0, 0.05])
    slide = plant.AddJoint(lib.PrismaticJoint("slide", rail, runner, [0.6, 0.0, 0.8], damping=2.0 * damping))
    board = lib.RigidTransform(lib.RollPitchYaw(0.3, 0.1, 0.7), [0.2, 0.1, 0.4])
    plant.WeldFrames(drawer.body_frame(), shelf.body_frame(), board)

    if "revolute_spring" in elements:
        plant.AddForceElement(lib.RevoluteSpring(swing, 0.4, 7.0))
    if "prismatic_spring" in elements:
        plant.AddForceElement(lib.PrismaticSpring(slide, -0.2, 21.0))
    if "spring_damper" in elements:
        plant.AddForceElement(lib.LinearSpringDamper(shelf, [0.1, 0.2, -0.1], ball, [-0.05, 0.1, 0.02], 0.7, 30.0, 2.0))
    if "spring_to_world" in elements:
        world = plant.world_body()
        plant.AddForceElement(lib.LinearSpringDamper(world, [0.3, -0.4, 1.0], door, [0.2, 0.1, 0.5], 0.5, 12.0, 1.0))
    if "hinge" in elements:
        plant.AddForceElement(lib.DoorHinge(swing, wide_hinge(lib)))
    if "bushing" in elements:
        A = frame("A", shelf, [0.2, -0.3, 0.4], [0.1, 0.3, -0.2])
        C = frame("C", ball, [-0.5, 0.2, 0.1], [0.02, 0.05, 0.1])
        constants = constants or ([3.0, 4.0, 5.0], [0.3, 0.4, 0.5], [40.0, 50.0, 60.0], [1.0, 2.0, 3.0])
        plant.AddForceElement(lib.LinearBushingRollPitchYaw(A, C, *constants))
    if more:
        more(lib, plant)
    plant.Finalize()
    return plant


def wide_hinge(lib):
    """A hinge whose curves are wide enough for finite differences."""
    return lib.DoorHingeConfig(
        spring_zero_angle_rad=-0.7,
        spring_constant=2.0,
        dynamic_friction_torque=1.5,
        static_friction_torque=1.0,
        viscous_friction=0.8,
        catch_width=0.8,
        catch_torque=4.0,
        motion_threshold=0.6,
    )


def random_states(plant, count, seed=1):
    """States [q; v] of the scene in which the bushing is away from gimbal lock."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        wxyz = np.array([1.0, 0.0, 0.0, 0.0]) + 0.35 * rng.normal(size=4)
        q = np.concatenate([rng.uniform(-1.0, 1.0, 2), wxyz / np.linalg.norm(wxyz), rng.uniform(-1.0, 1.0, 3)])
        yield np.concatenate([q, rng.normal(size=plant.num_velocities())])


def elements_of(lib, plant):
    return [plant.get_force_element(lib.ForceElementIndex(k)) for k in range(plant.num_force_elements())]
