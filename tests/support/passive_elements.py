"""Force elements of every kind on plants that nothing drives: their energy may not grow, and what damps ends at rest.

python tests/support/passive_elements.py [SECONDS]      a table of all, of a minute by default
"""

import sys
from dataclasses import dataclass

import numpy as np

from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import DoorHinge, DoorHingeConfig, RevoluteJoint, RevoluteSpring
from mbcli.simulation import simulate

STEP = 1e-3
G = 9.81
ARM = """<link name="arm"><inertial><origin xyz="0.1 0 0"/><mass value="0.05"/>
<inertia ixx="1e-5" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
URDF = '<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="base"/>{}</robot>'
WELD = '<joint name="w" type="fixed"><parent link="world"/><child link="base"/></joint>'
HINGE = '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>{}</joint>'
STRUT = """<drake:linear_spring_damper><drake:linear_spring_damper_body_A name="base"/>
<drake:linear_spring_damper_p_AP value="0.2 0 0.2"/><drake:linear_spring_damper_body_B name="arm"/>
<drake:linear_spring_damper_p_BQ value="0.2 0 0"/><drake:linear_spring_damper_free_length value="0.15"/>
<drake:linear_spring_damper_stiffness value="{}"/><drake:linear_spring_damper_damping value="{}"/>
</drake:linear_spring_damper>"""
BUSHING = """<frame name="A" link="base" xyz="0.1 0 0.1"/><frame name="C" link="arm" xyz="0.1 0 0"/>
<drake:linear_bushing_rpy><drake:bushing_frameA name="A"/><drake:bushing_frameC name="C"/>
<drake:bushing_torque_stiffness value="{0} {0} {0}"/><drake:bushing_torque_damping value="{1} {1} {1}"/>
<drake:bushing_force_stiffness value="{2} {2} {2}"/><drake:bushing_force_damping value="{3} {3} {3}"/>
</drake:linear_bushing_rpy>"""
MJCF = '<mujoco><option timestep="0.001"/><worldbody><site name="w" pos="0.2 0 1.2"/>{}</worldbody>{}</mujoco>'
ROD = '<geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.01" mass="0.1"/><site name="s" pos="0.2 0 0"/>'
SLIDE = """<body pos="0.2 0 0.9"><joint name="x" type="slide" axis="0 0 1" {}/><geom size="0.05" mass="1"/>
<site name="s"/></body>"""
BOX = """<geom type="plane" size="2 2 1"/><body pos="0.2 0 0.35"><freejoint/>
<geom type="box" size="0.1 0.1 0.1" mass="1"/><site name="s" pos="0.02 0 0.1"/></body>"""
WHEEL = """<geom name="wheel" type="cylinder" fromto="0 .1 1 0 -.1 1" size=".1" {0}/><site name="top" pos="0 0 1.2"/>
<site name="fixed" pos="-.1 0 .4"/>"""
HOOK = """<body pos=".1 0 .6"><joint name="x" type="slide" axis="0 0 1" {0}/><geom size=".05" mass="1" {1}/>
<site name="s"/></body>"""
SWING = f"""<body pos="0 0 1"><joint axis="0 1 0" damping="0.01"/>{ROD}<site name="side" pos="0 0 0.06"/>
<body pos="0.2 0 0"><joint axis="0 1 0" damping="0.01"/><geom name="ball" size="0.04" mass="0.05"/>
<geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.01" mass="0.1"/><site name="end" pos="0.2 0 0.05"/></body></body>"""
PATH = "<tendon><spatial {}><site site='{}'/>{}<site site='{}'/></spatial></tendon>"
ROPE = PATH.format("{}", "fixed", "<geom geom='wheel' sidesite='top'/>", "s")
OVER = PATH.format("{}", "w", "<site site='side'/><geom geom='ball'/>", "end")
NO_TOUCH = 'contype="0" conaffinity="0"'
LINE = "<tendon><spatial {}><site site='w'/><site site='s'/></spatial></tendon>"
SUM = "<tendon><fixed {}><joint joint='x' coef='1'/></fixed></tendon>"
WORLD = '<sdf version="1.9"><world name="w">{}<model name="m">{}</model></world></sdf>'
HULL = """<link name="b"><inertial><mass>33.6</mass><inertia><ixx>1.12</ixx><iyy>0.56</iyy><izz>1.456</izz></inertia>
</inertial><collision name="c"><geometry><box><size>0.4 0.6 0.2</size></box></geometry></collision>{}</link>"""
WATER = """<plugin filename="gz-sim-buoyancy-system" name="gz::sim::systems::Buoyancy"><graded_buoyancy>
<default_density>1000</default_density><density_change><above_depth>0</above_depth><density>1</density>
</density_change></graded_buoyancy></plugin>"""
DRAG = """<plugin filename="gz-sim-hydrodynamics-system" name="gz::sim::systems::Hydrodynamics"><link_name>b</link_name>
<xU>-{0}</xU><yV>-{0}</yV><zW>-{0}</zW><kP>-{0}</kP><mQ>-{0}</mQ><nR>-{0}</nR></plugin>"""
WING = """<plugin filename="gz-sim-lift-drag-system" name="gz::sim::systems::LiftDrag"><link_name>wing</link_name>
<cla>4</cla><cda>{0}</cda><area>{0}</area><air_density>1.2</air_density><alpha_stall>0.3</alpha_stall>
<cp>-0.5 0 0</cp></plugin>"""
VANE = """<joint name="j" type="revolute"><parent>world</parent><child>wing</child><axis><xyz>0 1 0</xyz>{}</axis>
</joint><link name="wing"><inertial><pose>-0.5 0 0 0 0 0</pose><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.02</iyy>
<izz>0.02</izz></inertia></inertial>{}</link>"""


@dataclass(frozen=True)
class Case:
    """A model, where it starts {position or velocity: value}, and what the plant's potential energy leaves out.

    stored: q (n, nq) of many samples -> [J] of springs that are constraints, bushings and water, where the potential
    energy of a bushing is not known: then all of it. rests: whether something damps all motion. by_python: whether a
    plugin computes its forces, at each step in Python.
    """

    model: object
    at: dict
    stored: object = None
    rests: bool = True
    by_python: bool = False


def band(k, low, high):
    """[J] of a spring that is slack between two coordinates."""
    return lambda q: 0.5 * k * (np.maximum(q[:, 0] - high, 0.0) ** 2 + np.maximum(low - q[:, 0], 0.0) ** 2)


def in_bushing(torsional, linear):
    """[J] of the arm and its bushing, by the angle of the hinge."""

    def stored(q):
        angle = q[:, 0]
        r = 0.1 * np.array([np.cos(angle) - 1.0, -np.sin(angle) - 1.0])
        return 0.5 * torsional * angle**2 + 0.5 * linear * (r * r).sum(axis=0) - 0.05 * G * 0.1 * np.sin(angle)

    return stored


def in_water(q):
    """[J] of an upright box of 0.4 by 0.6 by 0.2 m at the surface."""
    draft = np.clip(0.1 - q[:, 6], 0.0, 0.2)
    return 0.5 * (1000.0 - 1.0) * G * 0.24 * draft**2 - G * 0.24 * 0.2 * q[:, 6]


def urdf(*parts):
    return URDF.format(WELD + ARM + "".join(parts)), "urdf"


def mjcf(bodies, others=""):
    return MJCF.format(bodies, others), "mjcf"


def sdf(model, world=""):
    return WORLD.format(world, model), "sdf"


def joint_of(kind, more=""):
    return mjcf(f'<body pos="0 0 1"><joint name="x" {kind} {more}/>{ROD}</body>')


def rope(tendon, joint=""):
    """A weight on a rope that lies on a wheel."""
    return mjcf(WHEEL.format(NO_TOUCH) + HOOK.format(joint, NO_TOUCH), ROPE.format(tendon))


CASES = {
    "strut": Case(urdf(HINGE.format(""), STRUT.format(2000, 60)), {}),
    "strut, stiff": Case(urdf(HINGE.format(""), STRUT.format(2e6, 5)), {}),
    "strut without damping": Case(urdf(HINGE.format(""), STRUT.format(200, 0)), {}, rests=False),
    "strut on a body in contact": Case(mjcf(BOX, LINE.format('stiffness="30" damping="9" springlength="0.8"')), {}),
    "bushing": Case(urdf(HINGE.format(""), BUSHING.format(20, 0.2, 200, 2)), {}, in_bushing(20.0, 200.0)),
    "bushing, stiff": Case(urdf(HINGE.format(""), BUSHING.format(2000, 20, 2e5, 200)), {}, in_bushing(2e3, 2e5)),
    "spatial tendon": Case(
        mjcf(f'<body pos="0 0 1"><joint axis="0 1 0"/>{ROD}</body>', LINE.format('stiffness="3000" damping="80"')), {}
    ),
    "spatial tendon with a dead band": Case(
        mjcf(SLIDE.format(""), LINE.format('stiffness="300" damping="9" springlength="0.2 0.4"')),
        {},
        band(300.0, -0.1, 0.1),
    ),
    "spatial tendon with a dead band, stiff": Case(
        mjcf(SLIDE.format(""), LINE.format('stiffness="1e5" damping="2" springlength="0.2 0.4"')),
        {},
        band(1e5, -0.1, 0.1),
    ),
    "rope over a wheel": Case(rope('stiffness="300" damping="9" springlength="1.2"'), {}),
    "rope over a wheel, stiff": Case(rope('stiffness="1e6" damping="3" springlength="1.2"'), {}),
    "rope over a wheel without damping": Case(rope('stiffness="300" springlength="1.2"'), {}, rests=False),
    "rope over a wheel that is slack": Case(rope('stiffness="300" damping="5" springlength="0 1.7"'), {}),
    "rope over a wheel and a limit": Case(rope('stiffness="300" damping="9" springlength="1"', 'range="-.02 1"'), {}),
    "rope over a wheel to a body in contact": Case(
        mjcf(
            WHEEL.format("") + BOX.replace("0.2 0 0.35", "0.08 0 0.35"),
            ROPE.format('stiffness="30" damping="9" springlength="1.5"'),
        ),
        {},
    ),
    "rope over a link that swings": Case(mjcf(SWING, OVER.format('stiffness="100" damping="2"')), {}),
    "rope over a link that swings, stiff": Case(mjcf(SWING, OVER.format('stiffness="1e5" damping="20"')), {}),
    "damper along a rope over a wheel": Case(rope('damping="30"', 'stiffness="100"'), {}),
    "spatial tendon with limits": Case(mjcf(SLIDE.format(""), LINE.format('range="0.2 0.4"')), {}),
    "fixed tendon": Case(
        mjcf(SLIDE.format(""), SUM.format('stiffness="500" damping="10" springlength="0.1"')), {}, band(500.0, 0.1, 0.1)
    ),
    "fixed tendon with a dead band": Case(
        mjcf(SLIDE.format(""), SUM.format('stiffness="500" damping="10" springlength="-0.1 0.2"')),
        {},
        band(500.0, -0.1, 0.2),
    ),
    "damper of a fixed tendon": Case(mjcf(SLIDE.format('stiffness="400"'), SUM.format('damping="30"')), {}),
    "spring of a hinge": Case(joint_of('axis="0 1 0"', 'stiffness="2" damping="0.05"'), {}),
    "spring of a hinge, stiff": Case(joint_of('axis="0 1 0"', 'stiffness="2000" damping="0.5"'), {"x": 0.01}),
    "spring of a slide": Case(mjcf(SLIDE.format('stiffness="400" damping="8"')), {}),
    "spring of a ball joint": Case(joint_of('type="ball"', 'stiffness="2" damping="0.05"'), {}),
    "range of a ball joint": Case(joint_of('type="ball"', 'range="0 30" damping="0.01"'), {}),
    "friction of a ball joint": Case(joint_of('type="ball"', 'frictionloss="0.02"'), {}),
    "door hinge": Case("door_hinge", {"j": 1.0}),
    "spring and damper that close a loop": Case("closing_joint", {}),
    "water with damping": Case(sdf(HULL.format("") + DRAG.format(40), WATER), {"b_z": -0.03}, in_water, by_python=True),
    "water without damping": Case(sdf(HULL.format(""), WATER), {"b_z": -0.03}, in_water, rests=False, by_python=True),
    "decay of velocity": Case(
        sdf(VANE.format("", "<velocity_decay><linear>0.005</linear><angular>0.005</angular></velocity_decay>")),
        {},
        by_python=True,
    ),
    "air at rest": Case(
        sdf(
            VANE.format("<dynamics><spring_stiffness>20</spring_stiffness><damping>0.5</damping></dynamics>", "")
            + WING.format(0.5)
        ),
        {},
        by_python=True,
    ),
}


def door_hinge():
    """A door of 5 kg with a catch, which hangs on its hinge."""
    door = ARM.replace("0.05", "5").replace("1e-5", "0.1").replace("1e-4", "0.1")
    plant = MultibodyPlant(STEP)
    Parser(plant).AddModelsFromString(URDF.format(WELD + door + HINGE.format("")), "urdf")
    config = DoorHingeConfig()
    config.spring_zero_angle_rad, config.spring_constant, config.viscous_friction = 0.3, 20.0, 0.2
    config.dynamic_friction_torque = config.static_friction_torque = 0.1
    plant.AddForceElement(DoorHinge(plant.GetJointByName("j"), config))
    plant.Finalize()
    return plant


def closing_joint():
    """A parallelogram that a sprung and damped hinge closes."""
    from passive_mechanisms import Maker

    from mbcli.math import RigidTransform
    from mbcli.multibody.tree import FixedOffsetFrame

    m, y = Maker(STEP), np.array([0.0, 1.0, 0.0])
    last = m.chain(
        (RevoluteJoint, y, {"q": [0.7]}),
        (RevoluteJoint, y, {"q": [-np.pi / 2 - 0.7]}),
        (RevoluteJoint, y, {"q": [0.7 - np.pi / 2]}),
    )
    plant = m.plant
    for each in plant.elements.joints:
        each.set_default_damping_vector([0.01])  # so that the last one is cut
    end = plant.AddFrame(FixedOffsetFrame("end", last.body_frame(), RigidTransform([0.0, 0.0, -1.0])))
    foot = plant.AddFrame(FixedOffsetFrame("foot", plant.world_body().body_frame(), RigidTransform([1.0, 0.0, 0.0])))
    joint = plant.AddJoint(RevoluteJoint("closing", foot, end, y, damping=4.0))
    plant.AddForceElement(RevoluteSpring(joint, 0.3, 40.0))
    return m.finish()


BUILDERS = {"door_hinge": door_hinge, "closing_joint": closing_joint}


@dataclass(frozen=True)
class Outcome:
    """What a run shows: [J] by which its energy rose between two samples at most; [J] by which it fell in all, or its
    largest kinetic energy, if that is more; the largest velocity [rad/s or m/s] of the last sample."""

    rise: float
    flow: float
    speed: float


def run(name, seconds):
    """The Outcome of a case."""
    case, start = CASES[name], {}
    if isinstance(case.model, str):
        model = BUILDERS[case.model]()
        if isinstance(model, tuple):
            model, *start["start"] = model
    else:
        text, kind = case.model
        model = load_model(ModelText(text.encode()), file_type=kind, dt=STEP, contact=True)
    if case.at:
        start["start"] = case.at
    plant = model.plant if hasattr(model, "plant") else model
    touches = plant.meets_contact()
    fields = "q,v,energy,compliance" if touches else "q,v,energy"
    log = simulate(model, seconds, log_rate=50, fields=fields, warn=lambda line: None, **start)
    energy = log["kinetic"] + np.nan_to_num(log["potential"]) + (log["compliance"] if touches else 0.0)
    q, v = np.asarray(log.q), np.asarray(log.v)
    if case.stored is not None:
        energy = energy + case.stored(q)
    flow = max(float(energy[0] - energy.min()), float(log["kinetic"].max()))
    return Outcome(float(np.diff(energy).max()), flow, float(np.abs(v[-1]).max()))


if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    print(f"{'':42} largest rise [J]   flow [J]  last speed")
    for name in CASES:
        found = run(name, seconds)
        print(f"{name:42} {found.rise:16.2g} {found.flow:10.3g} {found.speed:11.2g}")
