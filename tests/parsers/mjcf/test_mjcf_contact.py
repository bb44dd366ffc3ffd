"""What touches what in MJCF files, and by which friction: filters, bit masks, pairs, flags; as a plant has it."""

import numpy as np
import pytest
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.writing.conversion import converted
from test_mjcf import body, model_of, read

from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.engine import load_kernels
from mbcli.engine.contact.arrays import ContactPoints
from mbcli.geometry.shapes import HalfSpace
from mbcli.math import RigidTransform
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlant, CoulombFriction
from mbcli.systems.framework import DiagramBuilder

FLOOR = '<geom name="floor" type="plane" size="1 1 1" {floor}/>'
BALL = '<body name="b" pos="0 0 {height}"><freejoint/><geom name="ball" size=".1" {ball}/></body>'


def plant_of(text, **config):
    """A finalized plant with a scene graph."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlant(MultibodyPlantConfig(**config), builder)
    Parser(plant).AddModelsFromString(text, "mjcf")
    plant.Finalize()
    return plant


def touching(text):
    """Pairs of names of geometries that may touch, sorted."""
    plant = plant_of(text)
    geometries = plant.compiled_geometries()
    inspector = plant.scene_graph.model_inspector()
    names = [inspector.GetName(g).rpartition("::")[2] for g in geometries.ids]
    bodies = [solid.body for solid in geometries.solids]
    return sorted(
        tuple(sorted((names[a], names[b])))
        for a in range(len(names))
        for b in range(a)
        if bodies[a] != bodies[b] and not inspector.CollisionFiltered(geometries.ids[a], geometries.ids[b])
    )


def contacts(text):
    """The contact points of the default state of a model."""
    return contacts_of(plant_of(text))


def contacts_of(plant):
    state = plant.CreateDefaultContext().state
    state.at_positions()
    collision, points = plant.compiled_geometries().collision(), ContactPoints(16)
    load_kernels(False).find_contacts(plant.model, state.data, collision, points)
    return points


def on_floor(ball="", floor="", height=0.0999, tail=""):
    """The one contact of a ball on a floor: distance, friction when sliding; None if there is none."""
    text = f"<mujoco><worldbody>{FLOOR.format(floor=floor)}{BALL.format(ball=ball, height=height)}</worldbody>{tail}"
    points = contacts(text + "</mujoco>")
    assert points.count[0] <= 1
    return (points.distance[0], points.law[0, 3]) if points.count[0] else None


# ------------------------------------------------------------------------------------------ bodies


def chain(*parts):
    """Bodies one in another: (name, XML of its joints)."""
    text = ""
    for name, joints in reversed(parts):
        text = f'<body name="{name}">{joints}<geom name="{name}" size=".1"/>{text}</body>'
    return text


HINGE, TWO_HINGES, FREE = "<joint/>", '<joint/><joint axis="0 1 0"/>', "<freejoint/>"


@pytest.mark.parametrize(
    "bodies, expected",
    [
        (chain(("a", FREE), ("b", HINGE), ("c", HINGE)), [("a", "c")]),
        (chain(("a", FREE), ("b", TWO_HINGES), ("c", TWO_HINGES)), [("a", "c")]),
        (chain(("a", FREE), ("b", ""), ("c", HINGE), ("d", "")), []),
        (chain(("a", FREE), ("b", ""), ("c", TWO_HINGES), ("d", HINGE)), [("a", "d"), ("b", "d")]),
        (chain(("a", ""), ("b", HINGE), ("c", HINGE)), [("a", "b"), ("a", "c")]),
        (chain(("a", ""), ("b", ""), ("c", TWO_HINGES)), [("a", "c"), ("b", "c")]),
    ],
)
def test_bodies_welded_together_are_one_for_the_filter_of_parents(bodies, expected):
    assert touching(body(bodies)) == expected


def test_a_static_parent_of_a_mocap_body_is_filtered_and_the_world_is_not():
    text = chain(("a", ""), ("b", HINGE)).replace('name="a"', 'name="a" mocap="true"', 1)
    assert touching(body(text)) == []
    assert touching(body('<geom name="w" size=".1"/>' + chain(("b", HINGE)))) == [("b", "w")]


def test_filter_of_parents_can_be_switched_off():
    text = body(chain(("a", FREE), ("b", TWO_HINGES)), '<option><flag filterparent="disable"/></option>')
    assert touching(text) == [("a", "b")]


def test_files_without_several_joints_or_welds_need_no_filter_groups():
    assert model_of(body(chain(("a", FREE), ("b", HINGE), ("c", HINGE)))).filter_groups == ()


@pytest.mark.parametrize("first, second", [("world", "b"), ("b", "world"), ("a", "c")])
def test_excluded_bodies_do_not_touch(first, second):
    bodies = '<geom name="world" size=".1"/>' + chain(("a", FREE), ("b", HINGE), ("c", HINGE))
    pairs = {("a", "c"), ("a", "world"), ("b", "world"), ("c", "world")}
    assert set(touching(body(bodies))) == pairs
    text = body(bodies).replace("</mujoco>", f'<contact><exclude body1="{first}" body2="{second}"/></contact></mujoco>')
    assert set(touching(text)) == pairs - {tuple(sorted((first, second)))}


# ------------------------------------------------------------------------------------------- geoms


@pytest.mark.parametrize("seed", range(3))
def test_bit_masks_say_what_touches(seed):
    masks = np.random.default_rng(seed).integers(0, 16, size=(8, 2)).tolist()
    geoms = [f'<body><freejoint/><geom name="g{k}" size=".1" contype="{t}" conaffinity="{a}"/></body>'
             for k, (t, a) in enumerate(masks)]  # fmt: skip
    expected = [
        (f"g{j}", f"g{k}") for k in range(8) for j in range(k) if masks[j][0] & masks[k][1] or masks[k][0] & masks[j][1]
    ]
    assert touching(body("".join(geoms))) == sorted(expected)


def test_pair_touches_whatever_filters_say():
    geoms = (
        '<geom name="floor" type="plane" size="1 1 1"/><body name="a"><freejoint/><geom name="a" size=".1" contype="0" '
        'conaffinity="0"/><body name="b"><joint/><geom name="b" size=".1"/></body></body>'
    )
    text = body(geoms).replace(
        "</mujoco>",
        '<contact><pair geom1="b" geom2="a"/><pair geom1="floor" geom2="b"/><exclude body1="world" body2="b"/>'
        "</contact></mujoco>",
    )
    assert touching(text) == [("a", "b"), ("b", "floor")]
    disabled = text.replace("<worldbody>", '<option><flag contact="disable"/></option><worldbody>')
    assert touching(disabled) == []


@pytest.mark.parametrize(
    "ball, floor, friction",
    [
        ("", "", 1.0),
        ('friction=".3"', "", 1.0),
        ('friction=".3"', 'friction=".2"', 0.3),
        ('friction=".3" priority="1"', "", 0.3),
        ('friction=".3"', 'friction=".8" priority="-1"', 0.3),
        ('condim="1" friction=".3"', 'condim="1"', 0.0),
        ('condim="1" friction=".3"', 'friction=".2"', 0.3),
        ('condim="1" priority="2"', "", 0.0),
        ('condim="1"', 'condim="3" priority="2" friction=".4"', 0.4),
    ],
)
def test_friction_of_two_geoms_is_the_larger_one_or_that_of_the_higher_priority(ball, floor, friction):
    distance, found = on_floor(ball, floor)
    assert found == friction
    assert distance == pytest.approx(-1e-4, abs=1e-12)


@pytest.mark.parametrize(
    "pair, margin, friction",
    [
        ("", 0.0, 1.0),
        ('friction=".6 .6"', 0.0, 0.6),
        ('condim="1" margin=".01"', 0.01, 0.0),
        ('class="smooth"', 0.002, 0.2),
    ],
)
def test_pair_has_its_own_law(pair, margin, friction):
    tail = (
        '<default><default class="smooth"><pair friction=".2 .2" margin=".002"/></default></default>'
        f'<contact><pair geom1="ball" geom2="floor" {pair}/></contact>'
    )
    distance, found = on_floor('friction=".3" margin=".05" condim="1"', 'condim="1"', tail=tail)
    assert found == friction
    assert distance == pytest.approx(-1e-4 - margin, abs=1e-12)


def test_margins_add_up_and_keep_geoms_apart():
    assert on_floor(height=0.105) is None
    assert on_floor('margin=".003"', height=0.105) is None
    distance, _ = on_floor('margin=".003"', 'margin=".004" gap=".5"', height=0.105)
    assert distance == pytest.approx(0.005 - 0.007, abs=1e-12)
    assert on_floor('margin="-.003"', height=0.0975) is None


def test_faces_touch_at_four_points_at_their_margin():
    text = (
        '<geom type="box" size="1 1 .1" margin=".01"/><body pos="0 0 .205"><freejoint/><geom type="box" size=".1 .1 .1"'
        "/></body>"
    )
    points = contacts(body(text))
    assert points.count[0] == 4
    np.testing.assert_allclose(points.distance[:4], 0.005 - 0.01, atol=1e-12)


def test_override_holds_for_every_contact():
    head = '<option o_margin=".02" o_friction=".4 .1"><flag override="enable"/></option>'
    distance, friction = on_floor('friction=".3" margin=".5"', tail=head)
    assert (distance, friction) == (pytest.approx(-1e-4 - 0.02, abs=1e-12), 0.4)


def test_geometry_of_another_file_combines_friction_as_in_drake_and_has_every_bit():
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlant(MultibodyPlantConfig(), builder)
    ball = BALL.format(ball='friction=".5" contype="4" conaffinity="0" priority="9"', height=0.0999)
    Parser(plant).AddModelsFromString(body(ball), "mjcf")
    friction = CoulombFriction(1.0, 1.0)
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", friction)
    plant.Finalize()
    points = contacts_of(plant)
    assert (points.count[0], points.law[0, 3]) == (1, 2 * 0.5 * 1.0 / 1.5)


# ------------------------------------------------------------------------------------------ findings


SOFT = (
    # (attributes of solref and solimp, [m] at which a ball rests in MuJoCo's ground of the same, measured)
    ("", 0.000367182),
    ('solref=".08 1"', 0.0031392),
    ('solref=".02 1" solimp="0 .9 .01"', 0.00544209),
    ('solref="-5000 -50" solimp=".5 .9 .01"', 0.00241234),
    ('solimp=".8 .8 .01"', 0.0007848),
    ('solimp=".015 1 .036"', 0.0157119),
)


@pytest.mark.parametrize("stated, depth", SOFT)
def test_softness_is_a_note_up_to_a_millimetre_at_rest_and_a_warning_beyond(stated, depth):
    _, diagnostics = read(body(f'<body><freejoint/><geom size=".1" {stated}/></body>'))
    if depth > 1e-3:
        (finding,) = diagnostics.warnings
        assert f"gives way to its load by {depth:.2g} m;" in finding.message
    else:
        assert not diagnostics.warnings
        assert [d.severity for d in diagnostics.findings if "how soft" in d.message] == ["note"] * bool(stated)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("stated, depth", SOFT)
def test_depth_at_rest_is_that_of_mujoco(stated, depth):
    import mujoco

    ball = f'<geom type="plane" size="1 1 1" {stated}/><body pos="0 0 .1"><freejoint/><geom size=".1" {stated}/></body>'
    model = mujoco.MjModel.from_xml_string(body(ball, '<option timestep=".001"/>'))
    data = mujoco.MjData(model)
    for _ in range(3000):
        mujoco.mj_step(model, data)
    assert 0.1 - data.qpos[2] == pytest.approx(depth, rel=1e-5)


@pytest.mark.parametrize(
    "text, words",
    [
        ('<joint margin=".02"/><geom size="1"/>', 'attribute "margin" in <joint> is not followed: in MuJoCo the '),
        ('<joint solimplimit="0 .8 .1"/><geom size="1"/>', "gives way to its load by 0.038 rad;"),
        ('<joint/><geom size="1" solref=".02 .3"/>', "in MuJoCo things bounce on it;"),
    ],
)
def test_limits_that_act_early_or_yield_and_bouncing_contact_are_warnings(text, words):
    _, diagnostics = read(body(f"<body>{text}</body>"))
    (finding,) = diagnostics.warnings
    assert words in finding.message


def test_softness_is_one_warning_and_one_note_for_the_file():
    text = body(
        '<body><joint solreflimit=".01 1"/><geom size="1" solref=".1 1" solimp=".9 .9 .1"/><body><joint margin="0"/>'
        '<geom size="1"/></body></body><body><joint margin=".01"/><geom size="1" margin="1"/></body>',
        '<default><geom solimp=".5 .9 .1"/></default>',
    )
    _, diagnostics = read(text)
    (warning,), (note,) = diagnostics.warnings, [d for d in diagnostics.findings if "how soft" in d.message]
    assert 'attribute "solref" in <geom> is not followed' in warning.message
    assert "(2 statements that matter)" in warning.message
    assert note.severity == "note" and "(2 statements)" in note.message


@pytest.mark.parametrize(
    "geom, message",
    [
        ('condim="2"', "must be one of 1, 3, 4, 6"),
        ('contype="1.5"', "must be a whole number"),
        ('friction="-1"', "must not be negative"),
    ],
)
def test_impossible_numbers_of_contact_are_errors(geom, message):
    model, diagnostics = read(body(f'<geom size=".1" {geom}/>'))
    assert model is None
    assert message in diagnostics.errors[0].message


def test_friction_of_a_pair_in_two_directions_is_read_and_unknown_geoms_are_found():
    text = body('<geom name="a" size=".1"/><body><freejoint/><geom name="b" size=".1"/></body>')
    tail = '<contact><pair geom1="a" geom2="b" friction=".5 .9"/><pair geom1="a" geom2="bb"/></contact></mujoco>'
    model, diagnostics = read(text.replace("</mujoco>", tail))
    assert model is None
    assert 'there is no geom "bb"' in diagnostics.errors[0].message
    (pair,) = model_of(text.replace("</mujoco>", tail.replace('<pair geom1="a" geom2="bb"/>', ""))).contact_pairs
    assert (pair.friction, pair.friction_across) == (0.5, 0.9)


FLAGGED = """<mujoco><option gravity="0 0 -3"><flag {flag}="disable"/></option><worldbody>
<geom name="f" type="plane" size="1 1 1"/><body name="a" gravcomp="1"><joint name="ja" type="slide" range="-1 1"
  stiffness="3" damping="4" frictionloss="5"/><geom size=".1"/></body><body name="b"><joint name="jb"/><geom size=".1"/>
  </body></worldbody><equality><joint joint1="jb"/></equality></mujoco>"""


def parts_of(flag):
    """The parts of the physics that a model with a flag still has."""
    model = model_of(FLAGGED.format(flag=flag))
    (axis,) = model.joints[0].axes
    return {
        "gravity": model.gravity == (0, 0, -3),
        "contact": any(link.collisions for link in model.links),
        "limit": axis.upper == 1.0,
        "spring": axis.spring_stiffness == 3,
        "damper": axis.damping == 4,
        "frictionloss": axis.friction == 5,
        "equality": len(model.constraints) == 1,
    }


@pytest.mark.parametrize("flag", ["gravity", "contact", "limit", "spring", "damper", "frictionloss", "equality"])
def test_a_flag_takes_one_part_out(flag):
    assert [name for name, there in parts_of(flag).items() if not there] == [flag]


def test_constraints_and_passive_forces_can_be_taken_out_together():
    assert [name for name, there in parts_of("constraint").items() if there] == ["gravity", "spring", "damper"]
    assert [name for name, there in parts_of("passive").items() if not there] == ["spring", "damper"]
    links = {link.name: link for link in model_of(FLAGGED.format(flag="passive")).links}
    assert links["a"].gravity  # its compensation is a passive force
    assert not {link.name: link for link in model_of(FLAGGED.format(flag="spring")).links}["a"].gravity


def test_conversion_lists_what_other_formats_do_not_say_of_contact():
    geoms = (
        '<body name="p"><geom size=".1" contype="2"/><body name="a"><joint/><geom name="a" size=".1" friction=".5"/>'
        '</body></body><body name="f"><freejoint/><geom name="f" size=".1" condim="1"/></body>'
    )
    pair = '<contact><pair geom1="a" geom2="f"/></contact></mujoco>'
    model = model_of(body(geoms).replace("</mujoco>", pair))
    conversion = converted(model, "urdf", packages=PackageMap(), folder=".")
    assert [loss.message for loss in conversion.losses if loss.code == "CONTACT"] == [
        "a pair of collisions with a contact of its own",
        "that 'p' and 'a', which joint 'p-a' connects, may touch",
        "contype of collision 'geom0'",
        "condim of collision 'f'",
        "that the larger friction of two collisions counts",
    ]
    plain = converted(model_of(body('<geom size=".1"/>')), "urdf", packages=PackageMap(), folder=".")
    assert [loss.code for loss in plain.losses if loss.code == "CONTACT"] == []
