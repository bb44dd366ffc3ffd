# ruff: noqa: E501, UP031  (documents)
"""The work of reading a file, and of writing it in another format, grows in proportion to it: for each kind of element
of each format, many of them."""

import gc
import sys
from contextlib import suppress
from itertools import product

import pytest
from mbcli.parsers.diagnostics import DiagnosticError, Diagnostics
from mbcli.parsers.formats import TARGETS
from mbcli.parsers.load import load_models
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.writing.conversion import converted

from mbcli.conversion.conversion_proof import touching
from mbcli.conversion.plant_comparison import inertias_outboard
from mbcli.errors import MbcliError, ModelError
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant
from mbcli.systems.framework import DiagramBuilder

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def mjcf(body="", extra=""):
    return f"<mujoco><worldbody><body name='b'><joint name='j'/><geom size='.1'/><site name='s'/>{body}</body></worldbody>{extra}</mujoco>"


def many(n, f):
    return "".join(f(k) for k in range(n))


MJCF = {
    "unnamed geoms": lambda n: mjcf(many(n, lambda k: "<geom size='.1' contype='0' conaffinity='0'/>")),
    "unnamed sites": lambda n: mjcf(many(n, lambda k: "<site/>")),
    "unnamed bodies": lambda n: mjcf(many(n, lambda k: "<body><geom size='.1' contype='0' conaffinity='0'/></body>")),
    "unnamed joints": lambda n: mjcf(
        many(n, lambda k: "<body><joint/><geom size='.1' contype='0' conaffinity='0'/></body>")
    ),
    "named bodies": lambda n: mjcf(
        many(n, lambda k: f"<body name='b{k}'><joint name='j{k}'/><geom size='.1' contype='0' conaffinity='0'/></body>")
    ),
    "rangefinder": lambda n: mjcf("", f"<sensor>{many(n, lambda k: '<rangefinder site=%r/>' % 's')}</sensor>"),
    "imu": lambda n: mjcf("", f"<sensor>{many(n, lambda k: '<gyro site=%r/>' % 's')}</sensor>"),
    "sensors of many sites": lambda n: mjcf(
        many(n, lambda k: f"<site name='s{k}'/>"), f"<sensor>{many(n, lambda k: '<gyro site=%r/>' % f's{k}')}</sensor>"
    ),
    "motors": lambda n: mjcf("", f"<actuator>{many(n, lambda k: '<motor joint=%r/>' % 'j')}</actuator>"),
    "keys": lambda n: mjcf("", f"<keyframe>{many(n, lambda k: '<key qpos=%r/>' % '1')}</keyframe>"),
    "tendons": lambda n: mjcf(
        "", f"<tendon>{many(n, lambda k: '<fixed><joint joint=%r coef=%r/></fixed>' % ('j', '1'))}</tendon>"
    ),
    "spatial": lambda n: mjcf(
        "<site name='t'/>",
        f"<tendon>{many(n, lambda k: '<spatial><site site=%r/><site site=%r/></spatial>' % ('s', 't'))}</tendon>",
    ),
    "equality": lambda n: mjcf(
        many(
            n, lambda k: f"<body name='c{k}'><joint name='d{k}'/><geom size='.1' contype='0' conaffinity='0'/></body>"
        ),
        f"<equality>{many(n, lambda k: '<joint joint1=%r/>' % f'd{k}')}</equality>",
    ),
    "excludes": lambda n: mjcf(
        many(n, lambda k: f"<body name='c{k}'><joint/><geom size='.1'/></body>"),
        f"<contact>{many(n, lambda k: '<exclude body1=%r body2=%r/>' % ('b', f'c{k}'))}</contact>",
    ),
    "materials": lambda n: mjcf("", f"<asset>{many(n, lambda k: '<material name=%r/>' % f'm{k}')}</asset>"),
    "defaults": lambda n: mjcf(
        "", f"<default>{many(n, lambda k: '<default class=%r><geom size=%r/></default>' % (f'm{k}', '1'))}</default>"
    ),
    "replicate": lambda n: mjcf(
        f"<replicate count='{n}' offset='1 0 0'><body><joint/><geom size='.1' contype='0' conaffinity='0'/></body></replicate>"
    ),
    "replicate geoms": lambda n: mjcf(
        f"<replicate count='{n}' offset='1 0 0'><geom size='.1' contype='0' conaffinity='0'/></replicate>"
    ),
    "nested": lambda n: mjcf(
        "".join("<body><joint/><geom size='.1' contype='0' conaffinity='0'/>" for k in range(min(n, 200)))
        + "</body>" * min(n, 200)
    ),
    "duplicate bodies": lambda n: mjcf(many(n, lambda k: "<body name='x'><geom size='.1'/></body>")),
    "plugins": lambda n: mjcf("", f"<extension>{many(n, lambda k: '<plugin plugin=%r/>' % 'a.b')}</extension>"),
    "cameras": lambda n: mjcf(many(n, lambda k: "<camera/>")),
    "lights": lambda n: mjcf(many(n, lambda k: "<light/>")),
    "unknown": lambda n: mjcf(many(n, lambda k: "<foo/>")),
}


def urdf(x):
    return f"<robot name='r'><link name='b'>{INERTIAL}</link>{x}</robot>"


def link(k, extra=""):
    return f"<link name='l{k}'>{INERTIAL}{extra}</link><joint name='j{k}' type='revolute'><parent link='b'/><child link='l{k}'/><axis xyz='1 0 0'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"


URDF = {
    "links": lambda n: urdf(many(n, link)),
    "visuals": lambda n: (
        f"<robot name='r'><link name='b'>{INERTIAL}{many(n, lambda k: '<visual><geometry><sphere radius=%r/></geometry></visual>' % '1')}</link></robot>"
    ),
    "collisions": lambda n: (
        f"<robot name='r'><link name='b'>{INERTIAL}{many(n, lambda k: '<collision><geometry><sphere radius=%r/></geometry></collision>' % '1')}</link></robot>"
    ),
    "materials": lambda n: urdf(many(n, lambda k: f"<material name='m{k}'><color rgba='1 0 0 1'/></material>")),
    "transmissions": lambda n: urdf(
        many(n, link)
        + many(
            n,
            lambda k: (
                f"<transmission name='t{k}'><type>transmission_interface/SimpleTransmission</type><joint name='j{k}'/><actuator name='a{k}'/></transmission>"
            ),
        )
    ),
    "same transmissions": lambda n: urdf(
        many(1, link)
        + many(
            n,
            lambda k: (
                f"<transmission name='t{k}'><type>transmission_interface/SimpleTransmission</type><joint name='j0'/><actuator name='a{k}'/></transmission>"
            ),
        )
    ),
    "gazebo": lambda n: urdf(many(n, lambda k: "<gazebo reference='b'><sensor name='s%d' type='imu'/></gazebo>" % k)),
    "gazebo unnamed": lambda n: urdf(many(n, lambda k: "<gazebo reference='b'><sensor type='imu'/></gazebo>")),
    "gazebo plugin": lambda n: urdf(many(n, lambda k: "<gazebo><plugin name='p' filename='libfoo.so'/></gazebo>")),
    "mimic": lambda n: urdf(
        many(n, link)
        + many(
            n,
            lambda k: (
                f"<link name='m{k}'>{INERTIAL}</link><joint name='mj{k}' type='revolute'><parent link='b'/><child link='m{k}'/><axis xyz='1 0 0'/><limit lower='-1' upper='1' effort='1' velocity='1'/><mimic joint='j{k}'/></joint>"
            ),
        )
    ),
    "dup links": lambda n: urdf(many(n, lambda k: "<link name='x'/>")),
    "bushings": lambda n: urdf(
        many(2, link)
        + many(n, lambda k: "<drake:linear_bushing_rpy><drake:bushing_frameA name='b'/></drake:linear_bushing_rpy>")
    ).replace("<robot", "<robot xmlns:drake='http://drake.mit.edu'"),
    "filters": lambda n: urdf(
        many(n, link)
        + "<drake:collision_filter_group name='g'>"
        + many(n, lambda k: f"<drake:member link='l{k}'/>")
        + "<drake:ignored_collision_filter_group name='g'/></drake:collision_filter_group>"
    ).replace("<robot", "<robot xmlns:drake='http://drake.mit.edu'"),
    "filter groups": lambda n: urdf(
        many(n, link)
        + many(
            n,
            lambda k: (
                f"<drake:collision_filter_group name='g{k}'><drake:member link='l{k}'/><drake:ignored_collision_filter_group name='g{k}'/></drake:collision_filter_group>"
            ),
        )
    ).replace("<robot", "<robot xmlns:drake='http://drake.mit.edu'"),
    "loops": lambda n: urdf(
        many(2, link)
        + many(
            n,
            lambda k: (
                f"<loop_joint name='x{k}' type='revolute'><link1 link='l0' xyz='0 0 0' rpy='0 0 0'/><link2 link='l1' xyz='0 0 0' rpy='0 0 0'/><axis xyz='1 0 0'/></loop_joint>"
            ),
        )
    ),
}
MASS = "<inertial><mass>1</mass></inertial>"


def sdf(x):
    return f"<sdf version='1.9'><model name='m'><link name='b'>{MASS}</link>{x}</model></sdf>"


SDF = {
    "links": lambda n: sdf(
        many(
            n,
            lambda k: (
                f"<link name='l{k}'>{MASS}</link><joint name='j{k}' type='revolute'><parent>b</parent><child>l{k}</child><axis><xyz>1 0 0</xyz></axis></joint>"
            ),
        )
    ),
    "frames": lambda n: sdf(many(n, lambda k: f"<frame name='f{k}' attached_to='b'/>")),
    "frame chain": lambda n: sdf(
        "<frame name='f0'/>" + many(n, lambda k: f"<frame name='f{k + 1}' attached_to='f{k}'/>")
    ),
    "pose chain": lambda n: sdf(
        "<frame name='f0'/>" + many(n, lambda k: f"<frame name='f{k + 1}'><pose relative_to='f{k}'/></frame>")
    ),
    "visuals": lambda n: (
        f"<sdf version='1.9'><model name='m'><link name='b'>{MASS}{many(n, lambda k: '<visual name=%r><geometry><sphere><radius>1</radius></sphere></geometry></visual>' % f'v{k}')}</link></model></sdf>"
    ),
    "unnamed visuals": lambda n: (
        f"<sdf version='1.9'><model name='m'><link name='b'>{MASS}{many(n, lambda k: '<visual><geometry><sphere><radius>1</radius></sphere></geometry></visual>')}</link></model></sdf>"
    ),
    "sensors": lambda n: (
        f"<sdf version='1.9'><model name='m'><link name='b'>{MASS}{many(n, lambda k: '<sensor name=%r type=%r/>' % (f'v{k}', 'imu'))}</link></model></sdf>"
    ),
    "plugins": lambda n: sdf(many(n, lambda k: "<plugin name='p' filename='libfoo.so'/>")),
    "models": lambda n: sdf(many(n, lambda k: f"<model name='m{k}'><link name='l'>{MASS}</link></model>")),
    "world models": lambda n: (
        "<sdf version='1.9'><world name='w'>"
        + many(n, lambda k: f"<model name='m{k}'><link name='l'>{MASS}</link></model>")
        + "</world></sdf>"
    ),
    "dup links": lambda n: sdf(many(n, lambda k: "<link name='x'/>")),
    "grippers": lambda n: sdf(many(n, lambda k: f"<gripper name='g{k}'/>")),
    "lights": lambda n: sdf(many(n, lambda k: f"<light name='g{k}' type='point'/>")),
    "actors": lambda n: (
        "<sdf version='1.9'><world name='w'>"
        + many(n, lambda k: f"<actor name='g{k}'/>")
        + f"<model name='m'><link name='b'>{MASS}</link></model></world></sdf>"
    ),
}
FORMATS = {"mjcf": MJCF, "urdf": URDF, "sdf": SDF}


def built(text, format_name):
    """The plant of a text; what is wrong with it, if that is so, is told."""
    plant = MultibodyPlant(0.001)
    with suppress(MbcliError, DiagnosticError):
        Parser(plant).AddModelsFromString(text, format_name)
        plant.Finalize()


def calls(function, *arguments):
    """How many functions a call calls, those of Python and of libraries."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()
    sys.setprofile(note)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


@pytest.mark.parametrize("kind", [(name, kind) for name, kinds in FORMATS.items() for kind in kinds], ids=" ".join)
def test_four_times_as_many_elements_take_less_than_eight_times_the_work(kind):
    name, make = kind[0], FORMATS[kind[0]][kind[1]]
    built(make(3), name)  # what is made once
    few, some, many = (calls(built, make(count), name) for count in (10, 40, 160))
    assert many - some < 8 * max(some - few, 1), (few, some, many)


# ------------------------------------------------------------------------------------------ writing

SPELLINGS = ["".join(letters) for letters in product(".-+", repeat=7)]  # names that are one identifier
SPHERE = "<{0} name='{1}'><geometry><sphere radius='1'/></geometry></{0}>"
WRITTEN = {  # those in which what a format takes is a question of many elements at once
    "visuals of one name": ("urdf", lambda n: urdf(link(0, many(n, lambda k: SPHERE.format("visual", "v"))))),
    "names of one spelling": (
        "urdf",
        lambda n: urdf(link(0, many(n, lambda k: SPHERE.format("visual", SPELLINGS[k])))),
    ),
    "links of one spelling": ("urdf", lambda n: urdf(many(n, lambda k: link(SPELLINGS[k])))),
    "solid links": ("urdf", lambda n: urdf(many(n, lambda k: link(k, SPHERE.format("collision", "c"))))),
    "nested solids": (
        "mjcf",
        lambda n: mjcf("".join("<body><joint/><geom size='.1'/>" for k in range(n)) + "</body>" * n),
    ),
}
KINDS = {(name, kind): make for name, kinds in FORMATS.items() for kind, make in kinds.items()}
WITHOUT_MODEL = ("duplicate bodies", "dup links", "bushings")


def written(model, target):
    with suppress(ModelError):  # that the format cannot say it
        converted(model, target, packages=PackageMap(), folder=".")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind[1] not in WITHOUT_MODEL], ids=" ".join)
def test_four_times_as_many_elements_are_written_in_less_than_eight_times_the_work(kind, target):
    models = [
        load_models(KINDS[kind](n).encode(), input_format=kind[0], diagnostics=Diagnostics())[0]
        for n in (3, 10, 40, 160)
    ]
    written(models[0], target)
    few, some, many = (calls(written, model, target) for model in models[1:])
    assert many - some < 8 * max(some - few, 1), (few, some, many)


def lines(function, *arguments):
    """How many lines a call runs, those of loops each time."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("visuals of one name", "mjcf"),
        ("visuals of one name", "usd"),
        ("names of one spelling", "usd"),
        ("links of one spelling", "usd"),
        ("solid links", "mjcf"),
        ("nested solids", "mjcf"),
    ],
)
def test_names_and_pairs_of_many_elements_are_found_in_proportion(kind, target):
    name, make = WRITTEN[kind]
    models = [load_models(make(n).encode(), input_format=name, diagnostics=Diagnostics())[0] for n in (3, 60, 180, 480)]
    written(models[0], target)
    few, some, many = (lines(written, model, target) for model in models[1:])
    assert many - some < 3.5 * (some - few), (few, some, many)  # in proportion 2.5 times, by the square 6.9 times


@pytest.mark.parametrize("place", ["world", "body"])
def test_geometries_of_one_frame_are_registered_in_proportion(place):
    """20,000 replicas in the world took minutes: each was compared with all before it."""
    replica = "<replicate count='{}'><geom size='.1' contype='0' conaffinity='0'/></replicate>"
    around = {"world": "{}", "body": "<body><freejoint/>{}</body>"}[place]

    def registered(n):
        plant, _ = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.001)
        text = f"<mujoco><worldbody>{around.format(replica.format(n))}</worldbody></mujoco>"
        Parser(plant).AddModelsFromString(text, "mjcf")

    registered(3)
    few, some, many = (lines(registered, n) for n in (20, 80, 320))
    assert many - some < 5 * (some - few), (few, some, many)  # in proportion 4 times, by the square 16 times


def test_the_proof_of_a_long_chain_asks_each_body_once():
    def chain(n):
        plant = MultibodyPlant(0.001)
        Parser(plant).AddModelsFromString(MJCF["nested"](n), "mjcf")
        plant.Finalize()
        return plant, plant.CreateDefaultContext()

    list(inertias_outboard(*chain(3)))  # what is made once
    few, some, many = (calls(lambda pair: list(inertias_outboard(*pair)), chain(n)) for n in (10, 40, 160))
    assert many - some < 8 * (some - few), (few, some, many)


def test_proving_a_conversion_of_nested_bodies_costs_no_calls_for_each_pair_of_them():
    """4,500 bodies of which each pair is a Python object take minutes."""

    def proved(n):
        text = mjcf("".join(f"<body name='c{k}'><joint/><geom size='.1'/>" for k in range(n)) + "</body>" * n)
        models = load_models(text.encode(), input_format="mjcf", diagnostics=Diagnostics())
        touching(models[0])

    proved(3)
    few, some, many = (calls(proved, count) for count in (20, 40, 80))
    assert many - some < 2.2 * (some - few)
