"""The same plants as pydrake from SDFormat files: names, order, frames, limits, masses, poses, mass matrices."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from machine_plants import library
from peer_modules import Later, peer_folder

pytestmark = pytest.mark.peers("pydrake")

TOLERANCE = 1e-10  # of numbers of order 1 to 100, after a handful of products


PYDRAKE, MBCLI = (Later(partial(library, name)) for name in ("pydrake", "mbcli"))


def plant_of(lib, source, packages):
    """A path, or the text of a file."""
    plant = lib.MultibodyPlant(1e-3)
    if lib is MBCLI:
        plant.settings.ball_joints = "drake"
    parser = lib.Parser(plant)
    for name, directory in packages.items():
        parser.package_map().Add(name, str(directory))
    if isinstance(source, Path):
        parser.AddModels(str(source))
    else:
        parser.AddModelsFromString(source, "sdf")
    frames = plant.num_frames()  # pydrake's Finalize() adds more
    plant.Finalize()
    return plant, frames


def instances(lib, plant):
    return [plant.GetModelInstanceName(lib.ModelInstanceIndex(i)) for i in range(plant.num_model_instances())]


def bodies(lib, plant):
    return [plant.get_body(lib.BodyIndex(i)) for i in range(plant.num_bodies())]


def joints(plant):
    return [plant.get_joint(i) for i in plant.GetJointIndices()]


def home(plant, element):
    return plant.GetModelInstanceName(element.model_instance())


def structure(lib, plant, num_frames):
    """Everything that has a name, in the order of the plant."""
    where = lambda element: (home(plant, element), element.name())  # noqa: E731
    return {
        "instances": instances(lib, plant),
        "bodies": [where(body) for body in bodies(lib, plant)],
        "frames": [where(plant.get_frame(lib.FrameIndex(i))) for i in range(num_frames)],
        "joints": [
            (*where(j), j.type_name(), where(j.frame_on_parent()), where(j.frame_on_child())) for j in joints(plant)
        ],
        "actuators": [where(plant.get_joint_actuator(i)) for i in plant.GetJointActuatorIndices()],
        "positions": plant.GetPositionNames(),
        "velocities": plant.GetVelocityNames(),
        "size": (plant.num_positions(), plant.num_velocities(), plant.num_force_elements(), plant.num_constraints()),
    }


def numbers(lib, plant, num_frames, q):
    """Arrays by what they are."""
    context = plant.CreateDefaultContext()
    found = {}
    for i, body in enumerate(bodies(lib, plant)):
        found[f"X_WB {i}"] = plant.EvalBodyPoseInWorld(context, body).GetAsMatrix34()
        if i:
            found[f"M_BBo_B {i}"] = body.default_spatial_inertia().CopyToFullMatrix6()
    for i in range(num_frames):
        found[f"X_BF {i}"] = plant.get_frame(lib.FrameIndex(i)).GetFixedPoseInBodyFrame().GetAsMatrix34()
    for joint in joints(plant):
        name = joint.name()
        for kind in ("position", "velocity", "acceleration"):
            for side in ("lower", "upper"):
                found[f"{name} {kind} {side}"] = getattr(joint, f"{kind}_{side}_limits")()
        found[f"{name} damping"] = joint.default_damping_vector()
    for index in plant.GetJointActuatorIndices():
        a = plant.get_joint_actuator(index)
        values = [a.effort_limit(), a.default_rotor_inertia(), a.default_gear_ratio()]
        gains = a.get_controller_gains() if a.has_controller() else None
        found[f"actuator {a.name()}"] = np.array([*values, *((gains.p, gains.d) if gains else (0.0, 0.0))])
    plant.SetPositions(context, q)
    plant.SetVelocities(context, np.linspace(-1.0, 1.0, plant.num_velocities()))
    forces = lib.MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    found["forces"] = plant.CalcGeneralizedForces(context, forces)
    found["mass matrix"] = plant.CalcMassMatrix(context)
    found["gravity"] = plant.CalcGravityGeneralizedForces(context)
    return found


def random_positions(plant, rng):
    q = rng.uniform(-1.0, 1.0, plant.num_positions())
    for joint in joints(plant):
        if joint.type_name() == "quaternion_floating":
            start = joint.position_start()
            q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q


def assert_same(source, packages=None):
    sides = [(lib, *plant_of(lib, source, packages or {})) for lib in (PYDRAKE, MBCLI)]
    theirs, ours = (structure(*side) for side in sides)
    assert ours == theirs
    q = random_positions(sides[0][1], np.random.default_rng(4))
    theirs, ours = (numbers(*side, q) for side in sides)
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        scale = max([1.0, *np.abs(expected[np.isfinite(expected)]).ravel()])
        np.testing.assert_allclose(ours[name], expected, rtol=0, atol=TOLERANCE * scale, err_msg=name)


def sdf(body, version="1.11"):
    return f"<sdf version='{version}' xmlns:drake='http://drake.mit.edu'>{body}</sdf>"


def link(name, pose="0 0 0 0 0 0"):
    inertial = "<inertial><pose>0.1 0.2 0.3 0.4 0.5 0.6</pose><mass>2</mass></inertial>"
    return f"<link name='{name}'><pose>{pose}</pose>{inertial}</link>"


def joint(name, parent, child, kind="revolute", extra="", axis="<xyz>0 0 1</xyz>"):
    return (
        f"<joint name='{name}' type='{kind}'><parent>{parent}</parent><child>{child}</child>"
        f"<axis>{axis}</axis>{extra}</joint>"
    )


ARM = (
    link("x", "0 0 1 0.1 0.2 0.3")
    + link("y", "1 0 0 0 0 0.7")
    + "<frame name='f'><pose>0 1 0 0.5 0 0</pose></frame>"
    + joint("j", "x", "y")
)
A, B = link("a"), link("b", "1 0 0.5 0 0.3 0")
NESTED = f"<model name='c'><pose>0 0 1 0 0 0.5</pose>{ARM}</model>"


MODELS = {
    "nested": f"{A}{NESTED}{joint('k', 'a', 'c::x')}{joint('l', 'c::y', 'b', 'prismatic')}{B}",
    "nested_first": f"{NESTED}{A}{joint('k', 'c::f', 'a')}<frame name='g' attached_to='c::y'/>",
    "only_nested": f"{NESTED}<model name='d'>{link('z')}</model>",
    "nested_twice": f"<model name='o'>{NESTED}{A}</model>{joint('k', 'world', 'o::c::x', 'fixed')}",
    "relative_to_nested": f"{NESTED}<frame name='g'><pose relative_to='c::f'>1 0 0 0 0 0</pose></frame>{A}",
    "relative_to_a_model": f"{NESTED}<link name='a'><pose relative_to='c'>1 0 0 0 0 0</pose></link>",
    "static_nested": f"{A}<model name='s'><static>true</static>{link('z', '1 2 3 0.1 0 0')}</model>",
    "follower": A
    + B
    + link("c")
    + joint("j", "a", "b")
    + joint("k", "b", "c", extra="<drake:mimic joint='j' multiplier='2' offset='1'/>"),
    "planar": f"{A}{B}<drake:joint name='p' type='planar'><drake:parent>a</drake:parent><drake:child>b</drake:child>"
    "<drake:damping>1 2 3</drake:damping></drake:joint>",
    "screw": A + B + joint("s", "a", "b", "screw", "<screw_thread_pitch>0.2</screw_thread_pitch>"),
    "universal": A + B + joint("u", "a", "b", "universal", "<axis2><xyz>0 1 0</xyz></axis2>"),
    "ball": A + B + joint("u", "a", "b", "ball", axis="<dynamics><damping>0.3</damping></dynamics>"),
    "drive": A
    + B
    + joint(
        *("d", "world", "b", "revolute"),
        "<drake:rotor_inertia>0.1</drake:rotor_inertia><drake:gear_ratio>7</drake:gear_ratio>"
        "<drake:controller_gains p='10' d='2'/>",
        "<xyz expressed_in='__model__'>1 1 0</xyz><limit><lower>-1</lower><upper>2</upper><velocity>3</velocity>"
        "<effort>4</effort><drake:acceleration>5</drake:acceleration></limit>"
        "<dynamics><damping>0.1</damping><spring_stiffness>6</spring_stiffness></dynamics>",
    ),
}
POINTS = "<drake:{0}_body_A>a</drake:{0}_body_A><drake:{0}_p_AP>1 2 3</drake:{0}_p_AP>"
POINTS += "<drake:{0}_body_B>b</drake:{0}_body_B><drake:{0}_p_BQ>0 0 1</drake:{0}_p_BQ>"


def children(prefix, **values):
    return "".join(f"<drake:{prefix}_{name}>{value}</drake:{prefix}_{name}>" for name, value in values.items())


SPRING = children("linear_spring_damper", free_length=1, stiffness=2, damping=0.5)
BUSHING = children("bushing", frameA="a", frameC="b", torque_stiffness="1 2 3", torque_damping="4 5 6") + children(
    "bushing", force_stiffness="7 8 9", force_damping="0 1 2"
)
TENDON = "<drake:tendon_constraint_joint name='j' a='2'/>" + children(
    "tendon_constraint", offset=0, lower_limit=-1, upper_limit=2, stiffness=3, damping=4
)
SHAPES = ("box><size>1 2 3</size>", "capsule><radius>0.5</radius><length>1</length>", "sphere><radius>2</radius>")
MODELS |= {
    "forces": A
    + B
    + f"<drake:linear_spring_damper>{POINTS.format('linear_spring_damper')}{SPRING}</drake:linear_spring_damper>"
    + f"<drake:linear_bushing_rpy>{BUSHING}</drake:linear_bushing_rpy>",
    "constraints": A
    + B
    + joint("j", "a", "b")
    + f"<drake:ball_constraint>{POINTS.format('ball_constraint')}</drake:ball_constraint>"
    + f"<drake:tendon_constraint>{TENDON}</drake:tendon_constraint>",
    "automatic": "<link name='a'><inertial auto='true'><density>7</density></inertial>"
    + "".join(
        f"<collision name='{i}'><pose>{i} 1 0 0.1 0.2 {i}</pose><density>{i + 1}</density>"
        f"<geometry><{shape}</{shape.partition('>')[0]}></geometry></collision>"
        for i, shape in enumerate(SHAPES)
    )
    + "</link>",
}
ATTRIBUTES = {"placement": "placement_frame='c::f'", "canonical": "canonical_link='c::y'"}
MODELS |= {"placement": MODELS["nested"], "canonical": MODELS["nested"]}


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    pose = "<pose>1 2 3 0.1 0.2 0.3</pose>"
    assert_same(sdf(f"<model name='m' {ATTRIBUTES.get(name, '')}>{pose}{MODELS[name]}</model>"))


WORLDS = {
    "frames": f"<frame name='wf'><pose>0 0 1 0.1 0 0</pose></frame><model name='p'><pose relative_to='wf'>1 0 0 0 0 0"
    f"</pose>{A}</model><model name='q'><pose relative_to='p'>1 0 0 0.2 0 0</pose>{A}{NESTED}</model>"
    "<frame name='qf' attached_to='q::a'><pose>0 0 1 0 0 0</pose></frame>",
    "joints": f"<model name='p'><pose>1 0 0 0 0 0</pose>{A}</model><model name='q'>{A}</model>"
    "<joint name='wj' type='fixed'><parent>world</parent><child>p::a</child></joint>"
    "<joint name='wk' type='fixed'><parent>p::a</parent><child>q</child></joint>",
    "static": f"<model name='p'><static>1</static><pose>1 0 0 0.4 0 0</pose>{A}{B}</model>",
    "include": "<include><uri>package://m/arm.sdf</uri></include><include><uri>package://m/arm.sdf</uri>"
    "<name>two</name><pose relative_to='arm'>1 0 0 0.1 0 0</pose></include>",
    "directory": "<include><uri>package://m/folder</uri><name>n</name></include>",
    "merge": "<include merge='true'><uri>package://m/frames_only.sdf</uri><name>N</name>"
    "<pose>1 0 0 0 0 0</pose></include>",
}
INCLUDES = {
    "as_it_is": "<include><uri>package://m/arm.sdf</uri></include>",
    "named": "<include><uri>model://m/arm.sdf</uri><name>n</name><pose>0 0 1 0 0.1 0</pose></include>",
    "placed": "<include><uri>package://m/arm.sdf</uri><name>n</name><pose>0 0 1 0 0.1 0</pose>"
    "<placement_frame>f</placement_frame></include>",
    "placed_in_its_file": "<include><uri>package://m/placed.sdf</uri><pose>0 0 1 0 0.1 0</pose></include>",
    "static": "<include><uri>package://m/folder</uri><static>true</static></include>",
    "merged": "<include merge='true'><uri>package://m/arm.sdf</uri><pose>0 0 1 0 0 0.2</pose></include>",
    "merged_placed": "<include merge='true'><uri>package://m/arm.sdf</uri><pose>0 0 1 0 0.3 0</pose>"
    "<placement_frame>f</placement_frame></include>",
    "joined": "<include><uri>package://m/arm.sdf</uri></include>" + joint("k", "a", "arm::f"),
    "urdf": "<include><uri>package://m/arm.urdf</uri><name>n</name><pose>0 0 1 0 0.3 0</pose></include>"
    "<frame name='g' attached_to='n::v'/>" + joint("k", "a", "n::u"),
}
URDF = """<robot name='r'><link name='u'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0'
  iyz='0'/></inertial></link><link name='v'><inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0'
  iyz='0'/></inertial></link><joint name='uj' type='revolute'><parent link='u'/><child link='v'/>
  <origin xyz='1 0 0' rpy='0 0.2 0'/><axis xyz='0 0 1'/></joint></robot>"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Files to include, of several versions of the format."""
    root = tmp_path_factory.mktemp("m")
    pose = "<pose>0 0 9 0 0 0</pose>"
    files = {
        "arm.sdf": sdf(f"<model name='arm'>{pose}{ARM}<model name='inner'>{link('z')}</model></model>", "1.7"),
        "placed.sdf": sdf(f"<model name='arm' placement_frame='f'>{ARM}</model>", "1.8"),
        "frames_only.sdf": sdf(f"<model name='w'><frame name='f'/><model name='x'>{A}</model></model>", "1.9"),
        "arm.urdf": URDF,
        "folder/old.sdf": sdf(f"<model name='old'>{link('old')}</model>", "1.5"),
        "folder/new.sdf": sdf(f"<model name='new'>{link('new')}</model>", "1.6"),
        "folder/model.config": "<model><name>folder</name><sdf version='1.5'>old.sdf</sdf>"
        "<sdf version='1.6'>new.sdf</sdf></model>",
    }
    (root / "folder").mkdir()
    for name, text in files.items():
        (root / name).write_text(text)
    return {"m": root}


@pytest.mark.parametrize("name", WORLDS)
def test_worlds(name, package):
    assert_same(sdf(f"<world name='w'>{WORLDS[name]}</world>"), package)


@pytest.mark.parametrize("name", INCLUDES)
def test_includes(name, package):
    assert_same(sdf(f"<model name='m'>{A}{INCLUDES[name]}{B}</model>"), package)


SHARE = peer_folder("pydrake") / "share" / "drake"
EXAMPLES = sorted(path for kind in ("sdf", "world") for path in SHARE.rglob(f"*.{kind}"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_of_pydrake(path):
    assert_same(path)
