"""What an SDFormat world states acts: the step, which solids touch, and how they resist spinning."""

from itertools import combinations

import numpy as np
import pytest
from command_line import cli, succeed

from mbcli.models import load_model

SPHERE = "<geometry><sphere><radius>0.1</radius></sphere></geometry>"
INERTIAL = "<inertial><mass>1</mass><inertia><ixx>0.004</ixx><iyy>0.004</iyy><izz>0.004</izz></inertia></inertial>"
GROUND = """<model name="ground"><static>true</static><link name="g"><collision name="c">
<geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>"""


@pytest.fixture
def world(tmp_path):
    def write(text):
        path = tmp_path / "world.sdf"
        path.write_text(f'<sdf version="1.9"><world name="w">{text}</world></sdf>')
        return path

    return write


def ball(name="ball", surface="", model="", link="", height=0.1):
    return f"""<model name="{name}">{model}<pose>0 0 {height} 0 0 0</pose><link name="l">{link}{INERTIAL}
    <collision name="c">{SPHERE}<surface>{surface}</surface></collision></link></model>"""


def physics(step, more=""):
    return f'<physics name="p{step}" type="ode"{more}><max_step_size>{step}</max_step_size></physics>'


@pytest.mark.parametrize(
    ("profiles", "step"),
    [
        (physics(0.004), 0.004),
        (physics(0.01) + physics(0.002, ' default="true"'), 0.002),
        (physics(0.01) + physics(0.002), 0.01),
        ("", 0.001),
        (physics(0), 0.001),
        (physics("fast"), 0.001),
    ],
)
def test_the_step_is_that_of_the_physics_that_counts(world, profiles, step):
    path = world(profiles + ball())
    loaded = load_model(str(path))
    assert loaded.plant.time_step() == loaded.config.plant_config.time_step == step


def test_an_option_or_a_configuration_takes_its_place(world, tmp_path):
    path = world(physics(0.004) + ball())
    assert load_model(str(path), dt=0.002).plant.time_step() == 0.002
    assert load_model(str(path), dt=0.0).plant.time_step() == 0.0
    assert load_model(str(path), overrides=["plant_config.time_step=0.005"]).plant.time_step() == 0.005
    settings = tmp_path / "run.yaml"
    settings.write_text("plant_config:\n  time_step: 0.003\n")
    assert load_model(str(path), config=str(settings)).plant.time_step() == 0.003


def test_a_run_says_its_steps_and_goes_on_with_them(world, tmp_path):
    path, log = world(physics(0.004) + ball(height=3)), tmp_path / "run.h5"
    run = ("simulate", path, "--no-contact")
    assert "50 steps of 0.004 s" in succeed(*run, "-t", 0.2, "-o", log).out
    assert cli(*run, "-t", 0.4, "--resume", log).code == 0


def touching(path):
    """Pairs of names of geometries that no filter keeps apart."""
    plant = load_model(str(path), contact=True, self_contact="all").plant
    inspector = plant.scene_graph.model_inspector()
    ids = [g for g in plant.geometry_bodies if inspector.GetProximityProperties(g) is not None]
    names = {g: inspector.GetName(g).partition("::")[0] for g in ids}
    return {frozenset((names[a], names[b])) for a, b in combinations(ids, 2) if not inspector.CollisionFiltered(a, b)}


def contact(**bits):
    return "<contact>" + "".join(f"<{name}>{value}</{name}>" for name, value in bits.items()) + "</contact>"


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("", "", True),
        (contact(collide_bitmask=1), contact(collide_bitmask=2), False),
        (contact(collide_bitmask=3), contact(collide_bitmask="0x02"), True),
        (contact(collide_bitmask=1), "", True),
        (contact(collide_bitmask=0), "", False),
        (contact(collide_bitmask=1, category_bitmask=4), contact(collide_bitmask=4, category_bitmask=8), True),
        (contact(collide_bitmask=1, category_bitmask=4), contact(collide_bitmask=2, category_bitmask=8), False),
        (contact(collide_without_contact="true"), "", False),
        (contact(collide_without_contact="true", collide_bitmask=1), "", True),
        (contact(collide_without_contact="false"), "", True),
    ],
)
def test_bits_say_which_solids_touch(world, one, other, meet):
    path = world(ball("a", one) + ball("b", other))
    assert (frozenset("ab") in touching(path)) is meet


@pytest.mark.parametrize("bits", ["-1", "70000", "some", ""])
def test_bits_that_are_none_are_found(world, bits):
    assert "collide_bitmask" in cli("check", world(ball("a", contact(collide_bitmask=bits)))).out


LINK = '<link name="{0}"><pose>{1} 0 0 0 0 0</pose>{2}' + INERTIAL + '<collision name="{0}">' + SPHERE
LINK += "</collision></link>"


@pytest.mark.parametrize(
    ("model", "links", "meet"),
    [
        ("", ("", "", ""), {"ab", "ac", "bc"}),  # nothing is stated: --self-contact decides
        ("true", ("", "", ""), {"ab", "ac", "bc"}),
        ("false", ("", "", ""), set()),
        ("false", ("true", "", ""), {"ab", "ac"}),
        ("", ("true", "", ""), {"ab", "ac"}),
        ("", ("false", "", ""), set()),
        ("true", ("false", "false", ""), {"ac", "bc"}),
    ],
)
def test_links_of_a_model_touch_as_it_says(tmp_path, model, links, meet):
    def stated(value):
        return f"<self_collide>{value}</self_collide>" if value else ""

    text = "".join(LINK.format(name, k, stated(own)) for k, (name, own) in enumerate(zip("abc", links, strict=True)))
    path = tmp_path / "model.sdf"
    path.write_text(f'<sdf version="1.9"><model name="m">{stated(model)}{text}</model></sdf>')
    plant = load_model(str(path), contact=True, self_contact="all").plant
    inspector = plant.scene_graph.model_inspector()
    names = {g: inspector.GetName(g).rpartition("::")[2] for g in plant.geometry_bodies}
    found = {a + b for (g, a), (h, b) in combinations(names.items(), 2) if not inspector.CollisionFiltered(g, h)}
    assert found == meet


def test_a_ball_with_torsional_friction_stops_spinning_as_its_patch_says(world):
    """I dw/dt = -3 pi a mu m g / 16, until it stands."""
    spin, g, radius, coefficient = 10.0, 9.81, 0.02, 0.5
    torsional = f"<coefficient>{coefficient}</coefficient><patch_radius>{radius}</patch_radius>"
    path = world(ball(surface=f"<friction><torsional>{torsional}</torsional></friction>") + GROUND)
    deceleration = 3 * np.pi * radius * coefficient * g / 16 / 0.004
    options = ("--v", f"0 0 {spin} 0 0 0", "--no-log", "--json")
    for t in (0.2, 0.4):
        v = succeed("simulate", path, "-t", t, *options).json()["v"]
        assert v[2] == pytest.approx(spin - deceleration * t, rel=0.01)
    assert abs(succeed("simulate", path, "-t", 0.8, *options).json()["v"][2]) < 1e-6


def test_a_patch_that_grows_with_the_depth_is_a_warning(world):
    torsional = "<use_patch_radius>false</use_patch_radius><surface_radius>0.1</surface_radius>"
    path = world(ball(surface=f"<friction><torsional>{torsional}</torsional></friction>"))
    assert "a patch that grows with the depth" in cli("check", path).out


FLOATING = """<model name="m"><link name="l"><pose>0 0 0 0.3 0.2 0</pose><gravity>false</gravity>{more}
<inertial><pose>0.1 0 0.2 0 0 0</pose>
<mass>2</mass><inertia><ixx>0.3</ixx><iyy>0.4</iyy><izz>0.5</izz></inertia></inertial></link></model>"""


def free_motion(path, until="0.2", *words):
    start = ("--at", "m_l_vx=3", "--at", "m_l_wz=0")
    return succeed("simulate", path, "--no-contact", "--no-log", "-t", until, "--json", *start, *words).json()["v"]


@pytest.mark.parametrize("dt", ["0.001", "0.004"])
def test_a_part_of_the_velocity_decays_in_each_step(world, dt):
    decay = "<velocity_decay><linear>0.004</linear><angular>0.004</angular></velocity_decay>"
    v = free_motion(world(FLOATING.format(more=decay)), "0.2", "--dt", dt)
    assert v[3] == pytest.approx(3.0 * (1.0 - 0.004) ** round(0.2 / float(dt)), rel=1e-9)
    assert np.abs(v[:3]).max() < 1e-9
    assert free_motion(world(FLOATING.format(more="")), "0.2", "--dt", dt)[3] == pytest.approx(3.0)


def test_spinning_decays_alone_where_the_file_says_so(world):
    decay = "<velocity_decay><angular>0.01</angular></velocity_decay>"
    path = world(FLOATING.format(more=decay).replace("<pose>0.1 0 0.2 0 0 0</pose>", ""))
    words = (
        "simulate",
        path,
        "--no-contact",
        "--no-log",
        "-t",
        "0.1",
        "--json",
        "--at",
        "m_l_vy=2",
        "--at",
        "m_l_wz=1e-3",
    )
    v = succeed(*words).json()["v"]
    assert v[2] == pytest.approx(1e-3 * 0.99**100, rel=1e-4) and v[4] == pytest.approx(2.0)


def test_no_force_moves_a_kinematic_link(world):
    path = world(GROUND + ball(link="<kinematic>true</kinematic>", height=1.0) + ball("other", height=1.21))
    q = succeed("simulate", path, "--no-log", "-t", "0.3", "--json").json()
    assert q["position_names"][-1] == "other_l_z" and len(q["q"]) == 7 and q["q"][-1] == pytest.approx(1.2, abs=3e-3)


def test_a_kinematic_link_that_a_joint_carries_is_a_warning(world):
    carried = """<model name="m"><link name="l"><kinematic>true</kinematic></link><joint name="j" type="revolute">
    <parent>world</parent><child>l</child><axis><xyz>0 0 1</xyz></axis></joint></model>"""
    assert "a joint carries the link" in cli("check", world(carried)).out
