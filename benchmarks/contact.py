"""The same scenes of bodies in contact in mbcli, pydrake and MuJoCo: solids, a start, and how each one steps.

Contact is set as alike as the programs allow. mbcli and pydrake: point contact, stiffness 4e4 N/m of each geometry (1e6
with Atlas), dissipation 10 s/m, relaxation time 0.01 s, stiction tolerance 1 mm/s, friction 0.5, everything else as by
default. MuJoCo: friction 0.5 in three directions of a contact (condim 3), solref 0.01 and 1 (its time constant, which
two bodies of 1 kg have about with the stiffness above, at critical damping), everything else as by default: Newton's
solver, warm start, pyramidal cones; a second contestant has elliptic ones.
"""

import json
import os
import sys
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import numpy as np
from lxml import etree

from benchmarks.peers import installed

DISSIPATION, RELAXATION, STICTION, FRICTION = 10.0, 0.01, 1e-3, 0.5
SOLREF = "0.01 1"
APPROXIMATIONS = ("lagged", "sap", "similar", "tamsi")
CONES = {"MuJoCo": "pyramidal", "MuJoCo elliptic": "elliptic"}
OWN_SETTLING = 1.0  # [s] of each program, from where mbcli has come to rest

SHAPES = {  # as plants call them and their inertias, and as MuJoCo does
    "ball": ("Sphere", "SolidSphereWithMass", "sphere"),
    "box": ("Box", "SolidBoxWithMass", "box"),
    "cylinder": ("Cylinder", "SolidCylinderWithMass", "cylinder"),
    "capsule": ("Capsule", "SolidCapsuleWithMass", "capsule"),
}
ROUND = ("cylinder", "capsule")  # about an axis, which inertias ask for

SLEEP = 1e-3  # [m/s] the tolerance of both programs
SECONDS_TO_SLEEP = 3.0
STANDING_STEPS = 100  # that all must be able to do from the start, where it is what is measured


@dataclass(frozen=True)
class Solid:
    """A shape at a position, along z; mass 0: it is fixed.

    size: the radius of a ball, the edges of a box, radius and length of a cylinder, and of a capsule without its ends.
    """

    shape: str
    size: tuple
    position: tuple
    mass: float = 1.0


@dataclass(frozen=True)
class World:
    """Solids over the ground z < 0, or a robot as URDF text with its positions q in the coordinates of mbcli.

    base: the link of the robot that floats;
    settling: how long until they lie still [s], 0 where the start is what is measured; stiffness of a geometry [N/m].
    """

    solids: tuple = ()
    urdf: str | None = None
    q: np.ndarray | None = None
    base: str = ""
    settling: float = 0.0
    stiffness: float = 4e4

    @property
    def bodies(self):
        return [solid for solid in self.solids if solid.mass > 0.0]


# ------------------------------------------------------------------------------------------------ worlds


BALLS = (("ball", (0.05,)),)
MIXED = (*BALLS, ("box", (0.08, 0.06, 0.07)), ("cylinder", (0.035, 0.06)), ("capsule", (0.03, 0.04)))


def solids_in_a_bin(count, across, shapes):
    """Solids within 5 cm of their middle, shapes in turn, fall in layers of across x across into a bin of five boxes.

    The bin just holds a layer.
    """
    r, gap = 0.05, 0.002
    inner = across * (2 * r + gap) + 0.04
    height, t = 2 * r * count / across**2 + 0.2, 0.05
    solids = [Solid("box", (inner + 2 * t, inner + 2 * t, t), (0.0, 0.0, t / 2), 0.0)]
    for sign in (-1, 1):
        at = sign * (inner + t) / 2
        solids.append(Solid("box", (t, inner + 2 * t, height), (at, 0.0, height / 2), 0.0))
        solids.append(Solid("box", (inner, t, height), (0.0, at, height / 2), 0.0))
    rng = np.random.default_rng(0)
    for k in range(count):
        layer, place = divmod(k, across**2)
        cell = np.array([place // across, place % across]) - (across - 1) / 2
        x, y = (2 * r + gap) * cell + (-1) ** layer * 0.015 + rng.uniform(-0.0005, 0.0005, 2)
        shape, size = shapes[k % len(shapes)]
        solids.append(Solid(shape, size, (x, y, t + r + 0.01 + layer * (2 * r + 0.01))))
    return World(tuple(solids), settling=2.0)


def wall_of_boxes(longest, rows):
    """Boxes of 10 cm, 2 mm apart, in rows on each other; each is one box shorter than that below, in its middle."""
    a = 0.1
    solids = [
        Solid("box", (a, a, a), ((column + 0.5 * row) * (a + 0.002), 0.0, a / 2 + row * a))
        for row in range(rows)
        for column in range(longest - row)
    ]
    return World(tuple(solids), settling=1.0)


def stacks_of_boxes(count):
    """Stacks of five boxes of 10 cm, one metre apart."""
    a, stacks = 0.1, count // 5
    across = int(np.ceil(np.sqrt(stacks)))
    solids = [
        Solid("box", (a, a, a), (float(stack // across), float(stack % across), a / 2 + level * a))
        for stack in range(stacks)
        for level in range(5)
    ]
    return World(tuple(solids), settling=0.1)


def solids_apart(count):
    """Solids of all shapes in the air, half a metre apart: they fall, and none meets another."""
    across = int(np.ceil(np.sqrt(count)))
    solids = [Solid(*MIXED[k % len(MIXED)], (0.5 * (k // across), 0.5 * (k % across), 5.0)) for k in range(count)]
    return World(tuple(solids))


MANY = {"stacks": stacks_of_boxes, "falling": solids_apart}  # of so many bodies


def quadruped(path, standing):
    """The sample quadruped, whose motors are off: as it begins to fall from standing on its feet, or lying."""
    q = np.zeros(19)
    q[0], q[6] = 1.0, 0.3583  # feet 0.2 mm deep
    q[7:] = 4 * (0.0, 0.7, -1.4)
    return World(urdf=path.read_text(), q=q, base="trunk", settling=0.0 if standing else 3.0)


ATLAS_BALLS = {  # added to the feet's and hands' own, so that it can lie [m]
    "pelvis": 0.15,
    "utorso": 0.18,
    "head": 0.1,
    **{side + name: 0.07 for side in "lr" for name in ("_uleg", "_lleg", "_larm", "_uarm")},
}


def atlas(path, standing):
    """Atlas on the ground: as it stands with straight legs, or lying where it has fallen from there."""
    tree = etree.parse(str(path), etree.XMLParser(resolve_entities=False, no_network=True))
    root = tree.getroot()
    for element in tree.xpath("//visual|//comment()"):
        element.getparent().remove(element)
    for sphere in tree.xpath("//collision/geometry/sphere"):
        sphere.set("radius", "0.01")  # points in the file, which MuJoCo refuses
    for link in root.findall("link"):
        if not standing and link.get("name") in ATLAS_BALLS:
            geometry = etree.SubElement(etree.SubElement(link, "collision"), "geometry")
            etree.SubElement(geometry, "sphere", radius=str(ATLAS_BALLS[link.get("name")]))
    q = np.zeros(37)
    q[0], q[6] = 1.0, 0.9483  # soles 0.2 mm deep
    settling = 0.0 if standing else 4.0
    return World(urdf=etree.tostring(tree).decode(), q=q, base="pelvis", settling=settling, stiffness=1e6)


# ------------------------------------------------------------------------------------- mbcli and pydrake


def own_modules():
    from mbcli import geometry, math
    from mbcli.config import scene_graph_config
    from mbcli.multibody import parsing, plant, tree
    from mbcli.systems import analysis, framework

    names = [geometry, scene_graph_config, math, parsing, plant, tree, analysis, framework]
    return SimpleNamespace(**{name: getattr(module, name) for module in names for name in dir(module)})


def _drake_modules():
    import logging

    from pydrake import geometry, math
    from pydrake.multibody import parsing, plant, tree
    from pydrake.systems import analysis, framework

    logging.getLogger("drake").setLevel(logging.ERROR)
    names = [geometry, math, parsing, plant, tree, analysis, framework]
    return SimpleNamespace(**{name: getattr(module, name) for module in names for name in dir(module)})


class PlantStepper:
    """A plant with a scene graph in mbcli or pydrake: the same source for both."""

    def __init__(self, world, time_step, approximation, lib, sleep=0.0, scheme=None):
        self._h, self._done = time_step, 0
        config = lib.MultibodyPlantConfig(time_step=time_step)
        config.discrete_contact_approximation, config.stiction_tolerance = approximation, STICTION
        config.contact_model = "point"
        surfaces = lib.SceneGraphConfig()
        defaults = surfaces.default_proximity_properties
        defaults.point_stiffness, defaults.hunt_crossley_dissipation = world.stiffness, DISSIPATION
        defaults.relaxation_time = RELAXATION
        defaults.static_friction = defaults.dynamic_friction = FRICTION
        builder = lib.DiagramBuilder()
        self.plant, _ = lib.AddMultibodyPlant(config, surfaces, builder)
        self._add(world, lib)
        if sleep:  # which pydrake has not
            self.plant.set_sleep_tolerance(sleep)
        if scheme is not None:
            self.plant.set_step_scheme(scheme)
        self.plant.Finalize()
        diagram = builder.Build()
        self._simulator = lib.Simulator(diagram)
        self._root = self._simulator.get_mutable_context()
        self._context = self.plant.GetMyMutableContextFromRoot(self._root)
        if self.plant.num_actuators():
            self.plant.get_actuation_input_port().FixValue(self._context, np.zeros(self.plant.num_actuators()))

    def _add(self, world, lib):
        plant, friction = self.plant, lib.CoulombFriction(FRICTION, FRICTION)
        plant.RegisterCollisionGeometry(plant.world_body(), lib.RigidTransform(), lib.HalfSpace(), "ground", friction)
        for k, solid in enumerate(world.solids):
            name, inertia, _ = SHAPES[solid.shape]
            shape = getattr(lib, name)(*solid.size)
            X = lib.RigidTransform(list(solid.position))
            if solid.mass == 0.0:
                plant.RegisterCollisionGeometry(plant.world_body(), X, shape, f"solid_{k}", friction)
                continue
            axis = [[0.0, 0.0, 1.0]] if solid.shape in ROUND else []
            M = getattr(lib.SpatialInertia, inertia)(solid.mass, *solid.size, *axis)
            body = plant.AddRigidBody(f"body_{k}", M)
            plant.RegisterCollisionGeometry(body, lib.RigidTransform(), shape, f"solid_{k}", friction)
        if world.urdf is not None:
            lib.Parser(plant).AddModelsFromString(world.urdf, "urdf")

    def set_state(self, q, v):
        self._done = 0
        self._root.SetTime(0.0)
        self.plant.SetPositions(self._context, q)
        self.plant.SetVelocities(self._context, v)
        self._simulator.Initialize()

    def state(self):
        return self.plant.GetPositions(self._context).copy(), self.plant.GetVelocities(self._context).copy()

    def advance(self, steps):
        self._done += steps
        self._simulator.AdvanceTo((self._done - 0.5) * self._h)  # halfway, where rounding does not decide about a step

    def statistics(self):
        """Of mbcli's contact problems so far: {name: number}."""
        return self._context.state.contact.statistics()

    def contacts(self):
        """How many contact points the last step had."""
        results = self.plant.get_contact_results_output_port().Eval(self._context)
        return results.num_point_pair_contacts()

    def names(self):
        """The joints of one position by name: where their position stands."""
        joints = [self.plant.get_joint(i) for i in self.plant.GetJointIndices()]
        return {joint.name(): joint.position_start() for joint in joints if joint.num_positions() == 1}


# ------------------------------------------------------------------------------------------------ MuJoCo


class MuJoCoStepper:
    """The same in MuJoCo; q and v of `set_state` and `state` are its own, `positions` come from those of mbcli."""

    def __init__(self, world, time_step, cone, sleep=0.0):
        import mujoco

        self._mujoco, self._world = mujoco, world
        text = _mjcf(world) if world.urdf is None else with_floating_base(world.urdf, world.base)
        spec = mujoco.MjSpec.from_string(text)
        if world.urdf is not None:
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
            for geom in spec.geoms:
                geom.friction[0], geom.condim = FRICTION, 3
                geom.solref[:] = [float(x) for x in SOLREF.split()]
        spec.option.timestep = time_step
        spec.option.cone = getattr(mujoco.mjtCone, f"mjCONE_{cone.upper()}")
        if sleep:
            spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
            spec.option.sleep_tolerance = sleep
        self.model = spec.compile()
        self._data = mujoco.MjData(self.model)

    def positions(self, q, names):
        """q of MuJoCo from that of mbcli, whose joints stand where names says."""
        result = np.zeros(self.model.nq)
        for k in range(self.model.njnt):
            joint = self.model.joint(k)
            start = joint.qposadr[0]
            if joint.type[0] == self._mujoco.mjtJoint.mjJNT_FREE:  # in both the free ones come first, in one order
                result[start : start + 3] = q[start + 4 : start + 7]
                result[start + 3 : start + 7] = q[start : start + 4]
            else:
                result[start] = q[names[joint.name]]
        return result

    def set_state(self, q, v):
        self._data.qpos[:], self._data.qvel[:] = q, v

    def state(self):
        return self._data.qpos.copy(), self._data.qvel.copy()

    def advance(self, steps):
        self._mujoco.mj_step(self.model, self._data, nstep=steps)

    def contacts(self):
        return int(self._data.ncon)


def _mjcf(world):
    parts = [
        f'<mujoco><default><geom friction="{FRICTION} 0 0" condim="3" solref="{SOLREF}"/></default>',
        '<size memory="1G"/><worldbody>',  # what it takes by itself is not enough for 10 000 bodies
        '<geom type="plane" size="0 0 1"/>',
    ]
    for solid in world.solids:
        halved = 0 if solid.shape == "box" else 1  # from where on sizes are lengths and not radii
        size = " ".join(str(x if n < halved else x / 2) for n, x in enumerate(solid.size))
        at = f'pos="{" ".join(map(str, solid.position))}"'
        geom = f'<geom type="{SHAPES[solid.shape][2]}" size="{size}"'
        if solid.mass == 0.0:
            parts.append(f"{geom} {at}/>")
        else:
            parts.append(f'<body {at}><freejoint/>{geom} mass="{solid.mass}"/></body>')
    return "".join(parts) + "</worldbody></mujoco>"


def with_floating_base(urdf, base="pelvis"):
    """URDF text in which MuJoCo lets a base float."""
    joint = f'<joint name="base" type="floating"><parent link="world"/><child link="{base}"/></joint>'
    return urdf.replace("</robot>", f'<link name="world"/>{joint}</robot>')


# -------------------------------------------------------------------------------------------- contestants


class Contest:
    """The steppers of a world at rest, each where it has come to rest itself.

    Args:
        world: World.
        time_step: [s]
        approximation: of mbcli and pydrake.
        peers: names of those to compare with, where installed.

    NumericalError where mbcli finds no solution; peers that find none are in `failed` and drop out.
    """

    def __init__(self, world, time_step, approximation, peers=("Drake", "MuJoCo")):
        falling = PlantStepper(world, time_step, "lagged", own_modules())
        falling.set_state(start_positions(world), np.zeros(falling.plant.num_velocities()))
        if world.settling:
            falling.advance(round(world.settling / time_step))
        q, names = falling.state()[0], falling.names()
        own = PlantStepper(world, time_step, approximation, own_modules())
        self.steppers = {"mbcli": own}
        if "Drake" in peers and installed("Drake"):
            self.steppers["Drake"] = PlantStepper(world, time_step, approximation, _drake_modules())
        if "MuJoCo" in peers and installed("MuJoCo"):
            self.steppers.update((name, MuJoCoStepper(world, time_step, cone)) for name, cone in CONES.items())
        self.states, self.contacts, self.failed = {}, {}, []
        for name, stepper in list(self.steppers.items()):
            theirs = stepper.positions(q, names) if isinstance(stepper, MuJoCoStepper) else q
            stepper.set_state(theirs, np.zeros(own.plant.num_velocities()))
            try:
                stepper.advance(round(OWN_SETTLING / time_step) if world.settling else STANDING_STEPS)
            except RuntimeError:
                if name == "mbcli":
                    raise
                self.failed.append(name)
                del self.steppers[name]
                continue
            self.contacts[name] = stepper.contacts()
            self.states[name] = stepper.state() if world.settling else (theirs, np.zeros_like(stepper.state()[1]))

    def calls(self, steps):
        """{name: function} that goes back to the state at rest and does so many steps."""

        def call(stepper, state):
            def run():
                stepper.set_state(*state)
                stepper.advance(steps)

            return run

        return {name: call(stepper, self.states[name]) for name, stepper in self.steppers.items()}


class ContestAsleep:
    """The steppers of a world at rest that sleeps in them, and mbcli with the same world awake.

    RuntimeError where something is awake after some seconds.
    """

    def __init__(self, world, time_step, approximation):
        q, still = start_positions(world), np.zeros(6 * len(world.bodies))
        lib = own_modules()
        self.steppers = {
            "mbcli": PlantStepper(world, time_step, approximation, lib, sleep=SLEEP),
            "mbcli awake": PlantStepper(world, time_step, approximation, lib),
        }
        if installed("MuJoCo"):
            self.steppers["MuJoCo"] = MuJoCoStepper(world, time_step, CONES["MuJoCo"], sleep=SLEEP)
        for name, stepper in self.steppers.items():
            if name != "MuJoCo":  # which has the start in its model
                stepper.set_state(q, still)
            stepper.advance(round(SECONDS_TO_SLEEP / time_step))
            if name != "mbcli awake" and stepper.state()[1].any():
                raise RuntimeError(f"{name}: not everything sleeps after {SECONDS_TO_SLEEP:g} s")

    def calls(self, steps):
        """{name: function} that does so many steps from where the one before has ended."""
        return {name: partial(stepper.advance, steps) for name, stepper in self.steppers.items()}


def start_positions(world):
    if world.q is not None:
        return world.q
    return np.concatenate([(1.0, 0.0, 0.0, 0.0, *solid.position) for solid in world.bodies])


# ------------------------------------------------------------------------------------------------ memory


def resident_bytes():
    """What this process has in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def memory_of_many(world_name, contestant, count, time_step):
    """Bytes that a world of MANY takes in this process, from before it is made to after some steps."""
    for bodies in (5, count):  # first what loads and compiles
        before = resident_bytes()
        world = MANY[world_name](bodies)
        if contestant == "mbcli":
            stepper = PlantStepper(world, time_step, "lagged", own_modules())
        elif contestant == "Drake":
            stepper = PlantStepper(world, time_step, "lagged", _drake_modules())
        else:
            stepper = MuJoCoStepper(world, time_step, CONES[contestant])  # which has the start in its model
        if contestant not in CONES:
            stepper.set_state(start_positions(world), np.zeros(6 * bodies))
        stepper.advance(5)
    return resident_bytes() - before


if __name__ == "__main__":  # in a process of its own: world, contestant, bodies, step
    print(json.dumps(memory_of_many(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))))
