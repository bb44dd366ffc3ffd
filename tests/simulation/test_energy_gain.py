"""A passive plant that gains energy is named, with how much, when, the cause and what to do; no other plant is."""

import re

import numpy as np
import pytest
from command_line import cli
from passive_mechanisms import gyroscope, make
from random_trees import random_plant
from repository import SAMPLES

from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.multibody.tree import LinearSpringDamper
from mbcli.simulation import simulate

SAID = "nothing drives the plant, but its energy rose"
LEVER = """<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="base"/>
<link name="arm"><inertial><origin xyz="0.1 0 0"/><mass value="0.05"/>
<inertia ixx="1e-5" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>{joint}</joint>
{strut}</robot>"""
STRUT = """<drake:linear_spring_damper><drake:linear_spring_damper_body_A name="base"/>
<drake:linear_spring_damper_p_AP value="0.2 0 0.2"/><drake:linear_spring_damper_body_B name="arm"/>
<drake:linear_spring_damper_p_BQ value="0.2 0 0"/><drake:linear_spring_damper_free_length value="0.15"/>
<drake:linear_spring_damper_stiffness value="{k}"/><drake:linear_spring_damper_damping value="{c}"/>
</drake:linear_spring_damper>"""
JOINT_SPRING = """<sdf version="1.9"><world name="w"><gravity>0 0 0</gravity><model name="m"><link name="arm">
<inertial><pose>0.2 0 0 0 0 0</pose><mass>0.01</mass>
<inertia><ixx>1e-6</ixx><iyy>1e-4</iyy><izz>1e-4</izz></inertia></inertial></link>
<joint name="j" type="revolute">
<parent>world</parent><child>arm</child><axis><xyz>0 1 0</xyz><dynamics><spring_stiffness>3000</spring_stiffness>
<damping>{c}</damping></dynamics></axis></joint></model></world></sdf>"""
BALL = """<sdf version="1.9"><world name="w"><model name="floor"><static>true</static><link name="f">
<collision name="c"><geometry><plane/></geometry></collision></link></model>
<model name="ball"><pose>0 0 {z} 0 0 0</pose><link name="b">
<inertial><mass>1</mass><inertia><ixx>0.004</ixx><iyy>0.004</iyy><izz>0.004</izz></inertia></inertial>
<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model></world>
</sdf>"""


def lever(k=2000.0, c=0.0):
    return ModelText(LEVER.format(joint="", strut=STRUT.format(k=k, c=c)).encode(), "lever.urdf")


def gains(model, until, **options):
    """What a run says of energy that came from nowhere."""
    words = []
    simulate(model, until, warn=words.append, **options)
    return [line for line in words if "energy rose" in line]


def sprung_tree(seed, k, step):
    """A random tree of 4 to 6 bodies with three struts without damping, which start far from their lengths."""
    kinds, count = ("revolute", "universal", "revolute", "quaternion_floating"), 4 + seed % 3
    options = {"damped": False, "sprung": False, "actuated": False, "finalize": False, "time_step": step}
    plant = random_plant(seed, kinds, num_bodies=count, **options)
    bodies, rng = [plant.GetBodyByName(f"body{n}") for n in range(count)], np.random.default_rng(seed)
    for n in range(3):
        first, second = rng.choice(count, 2, replace=False)
        A = plant.world_body() if n == 0 else bodies[first]
        p = rng.uniform(-0.5, 0.5, (2, 3))
        plant.AddForceElement(LinearSpringDamper(A, p[0], bodies[second], p[1], rng.uniform(0.5, 1.5), k, 0.0))
    plant.Finalize()
    return plant


@pytest.mark.parametrize(("seed", "k"), [(7, 1e3), (7, 1e4), (2, 1e4), (4, 1e4)])
def test_trees_that_gain_energy_are_named_and_the_advised_steps_end_it(seed, k):
    step, said = 1e-3, []
    for _ in range(4):
        found = gains(sprung_tree(seed, k, step), 2.0 if k > 1e3 else 10.0)
        if not found:
            break
        (line,) = found
        said.append(line)
        assert SAID in line and re.search(r"from t = [\d.]+ s on, most at [\d.]+ s", line)
        advised = re.search(r"try dt=([\d.e-]+), or less", line)
        step = float(advised[1]) if advised else step / 4.0
    assert said and not found


@pytest.mark.parametrize(
    ("model", "start", "name"),
    [
        (lever(k=2e5), {}, "the spring-damper between bodies 'base' and 'arm' vibrates at"),
        (lever(k=2e6), {}, "the spring-damper between bodies 'base' and 'arm' vibrates at"),
        (ModelText(JOINT_SPRING.format(c=0).encode(), "j.sdf"), {"j": 0.3}, "the spring of joint 'j' vibrates at"),
    ],
)
def test_an_explicit_spring_that_the_step_does_not_resolve_is_named(model, start, name):
    """The scheme of Drake takes springs at the start of a step; 0.02 s is before its numbers overflow."""
    drake = {"weld_base": True} if "urdf" in str(model) else {}
    loaded = load_model(model, overrides={"plant_config.step_scheme": "drake"}, dt=1e-3, **drake)
    (line,) = gains(loaded, 0.02, start=start)
    assert SAID in line and name in line and "or give it damping" in line


def test_a_fast_top_names_its_velocity():
    plant, q, v = make(gyroscope, 1e-3, step_scheme="drake")
    (line,) = gains(plant, 20.0, start=(q, v))
    assert re.search(r"the velocity '\w+' reached [\d.]+ rad/s", line)


def test_worlds_that_gain_energy_are_counted_and_one_is_named(tmp_path):
    """The middle one rests."""
    (tmp_path / "j.sdf").write_text(JOINT_SPRING.format(c=0))
    (tmp_path / "starts.csv").write_text("j,j_w\n0.2,0\n0,0\n0.3,0\n")
    common = ("simulate", tmp_path / "j.sdf", "-t", 0.02, "--no-log", "--states", tmp_path / "starts.csv", "--each")
    found = cli(*common, "--set", "plant_config.step_scheme=drake")
    assert found.code == 0, found.err
    assert f"2 of 3 worlds; in world 2 {SAID}" in found.err and "the spring of joint 'j' vibrates at" in found.err
    assert SAID not in cli(*common).err


WATER = """<plugin filename="x" name="gz::sim::systems::Hydrodynamics"><link_name>{name}</link_name>
<xU>{drag}</xU><yV>{drag}</yV><zW>{drag}</zW>{more}</plugin>"""
WING = """<plugin filename="x" name="gz::sim::systems::LiftDrag"><link_name>{name}</link_name><area>0.01</area>
<cla>4</cla><cda>0.1</cda></plugin>"""
FLUID = """<plugin filename="x" name="gz::sim::systems::Buoyancy"><graded_buoyancy>
<default_density>1000</default_density><density_change><above_depth>0</above_depth><density>1</density>
</density_change></graded_buoyancy></plugin>"""
WIND = "<wind><linear_velocity>5 0 0</linear_velocity></wind>"


def in_fluids(text, plugins="", world="", name="b"):
    """A world with plugins of a model and of the world."""
    text = text.replace("</link></model></world>", f"</link>{plugins}</model>{world}</world>")
    text = text.replace("</joint></model></world>", f"</joint>{plugins}</model>{world}</world>")
    return ModelText(text.encode(), "fluids.sdf")


@pytest.mark.parametrize("plugins", [WATER.format(name="arm", drag=-1e-4, more=""), WING.format(name="arm"), FLUID])
def test_a_plant_whose_plugins_give_no_energy_is_watched(plugins):
    solid = "</inertial><collision name='c'><geometry><sphere><radius>0.01</radius></sphere></geometry></collision>"
    parts = ("", FLUID) if plugins == FLUID else (plugins, "")
    loaded = load_model(
        in_fluids(JOINT_SPRING.format(c=0).replace("</inertial>", solid), *parts),
        overrides={"plant_config.step_scheme": "drake"},
        dt=1e-3,
    )
    assert loaded.plant.elements.plugins
    (line,) = gains(loaded, 0.02, start={"j": 0.3})
    assert SAID in line


@pytest.mark.parametrize(
    ("plugins", "world", "how"),
    [
        (WATER.format(name="b", drag=-3, more=""), "", None),
        (WATER.format(name="b", drag=-3, more=""), FLUID, None),
        ("", FLUID, None),
        (WING.format(name="b"), "", None),
        (WATER.format(name="b", drag=1, more=""), "", "Hydrodynamics (coefficients above 0 drive)"),
        (
            WATER.format(name="b", drag=-3, more="<default_current>2 0 0</default_current>"),
            "",
            "Hydrodynamics (the water flows)",
        ),
        (WING.format(name="b"), WIND, "LiftDrag (the air moves)"),
    ],
)
def test_what_water_and_air_bring_is_no_gain_and_is_told(tmp_path, plugins, world, how):
    """A ball that is lighter than water rises out of it and bobs: what the fluid stored comes back."""
    deep = BALL.format(z=-1.0).replace('<model name="floor">', '<model name="floor"><pose>0 0 -9 0 0 0</pose>')
    path = tmp_path / "fluids.sdf"
    path.write_text(in_fluids(deep, plugins, world).content.decode())
    found = cli("simulate", path, "-t", 5, "--no-log", "--at", "ball_b_vx=3")
    assert found.code == 0 and "energy rose" not in found.err + found.out
    told = [line for line in (found.err + found.out).splitlines() if "may give energy" in line]
    assert len(told) == bool(how) and (not how or f"what may give energy, so that it is not watched: {how}" in told[0])


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (lever(c=60.0), {"loading": {"weld_base": True}, "until": 60.0}),
        (lever(k=2e6, c=5.0), {"loading": {"weld_base": True}, "until": 60.0}),
        (ModelText(JOINT_SPRING.format(c=0).encode(), "j.sdf"), {"start": {"j": 0.3}, "until": 60.0}),
        (ModelText(BALL.format(z=0.09).encode(), "deep.sdf"), {}),  # contact gives back what it stored at the start
        (ModelText(BALL.format(z=0.5).encode(), "thrown.sdf"), {"start": {"ball_b_vz": 0.1}}),
        (ModelText(BALL.format(z=0.1).encode(), "rests.sdf"), {}),
        (ModelText(BALL.format(z=0.1).encode(), "rolls.sdf"), {"start": {"ball_b_wy": 50.0}}),
        (ModelText(BALL.format(z=0.1).encode(), "pushed.sdf"), {"pushes": "ball::b=5,0,0"}),
        (str(SAMPLES / "pendulum.urdf"), {"inputs": [1.0]}),
        (str(SAMPLES / "double_pendulum.urdf"), {"loading": {"hold": True}}),
        (str(SAMPLES / "worlds" / "quadrotor.sdf"), {}),
    ],
)
def test_others_are_not(model, options):
    """Damped or resolved, in contact, or driven."""
    options = dict(options)
    loaded = load_model(model, **options.pop("loading", {}))
    assert gains(loaded, options.pop("until", 5.0), **options) == []
