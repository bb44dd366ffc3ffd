"""<gazebo> elements of URDF: friction, gravity and contact of links act, all else is a finding."""

import pytest
from command_line import cli
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.urdf.read_urdf import read_urdf
from mbcli.parsers.urdf.urdf_gazebo import OF_SOLVERS, UNUSED

BALL = "<collision><geometry><sphere radius='.1'/></geometry>{}</collision>"
ROBOT = """<robot name="r"><link name="a">{ball}</link><link name="b">{ball}</link><link name="c">{ball}</link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
<joint name="k" type="continuous"><parent link="b"/><child link="c"/></joint>{more}</robot>"""


def read(more, properties=""):
    diagnostics = Diagnostics()
    model = read_urdf(ROBOT.format(ball=BALL.format(properties), more=more).encode(), diagnostics)
    lines = [f"{f.severity} {f.message}" for f in diagnostics.findings if "inertia" not in f.message.lower()]
    return model, [line for line in lines if "gazebo" in line or "friction" in line or "<" in line]


def friction(model, link=0):
    return model.links[link].collisions[0].properties.get(("material", "coulomb_friction"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<mu1>0.8</mu1><mu2>0.6</mu2>", (0.8, 0.6)),
        ("<mu1>0.3</mu1>", (0.3, 0.3)),
        ("<mu2>0.4</mu2>", (1.0, 0.4)),
        ("<mu1>0.3</mu1><mu2>0.6</mu2>", (0.3, 0.3)),
        ('<mu1 value="0.8"/><mu2 value="0.6"/>', (0.8, 0.6)),
        ('<mu1 value="0.8"/><mu2>0.6</mu2>', (0.8, 0.6)),
        ('<mu1 value="0.8">0.2</mu1>', (0.8, 0.8)),
    ],
)
def test_friction_is_that_of_the_collisions_of_the_link(content, expected):
    model, _ = read(f'<gazebo reference="a">{content}</gazebo>')
    assert friction(model) == expected and friction(model, 1) is None


def test_what_the_collision_states_itself_counts():
    own = "<drake:proximity_properties><drake:mu_static value='0.2'/></drake:proximity_properties>"
    model, _ = read('<gazebo reference="a"><mu1>0.9</mu1></gazebo>', own)
    assert friction(model) == (0.2, 0.2)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<turnGravityOff>true</turnGravityOff>", False),
        ("<turnGravityOff>false</turnGravityOff>", True),
        ('<turnGravityOff value="true"/>', False),
        ('<turnGravityOff value="false"/>', True),
        ("<turnGravityOff>True</turnGravityOff>", False),
        ("<turnGravityOff> 1 </turnGravityOff>", False),
        ('<gravity value="0"/>', False),
        ("<gravity>false</gravity>", False),
        ("<gravity>1</gravity>", True),
    ],
)
def test_a_link_may_be_without_weight(content, expected):
    model, findings = read(f'<gazebo reference="b">{content}</gazebo>')
    assert [link.gravity for link in model.links] == [True, expected, True] and not findings


@pytest.mark.parametrize(
    ("more", "apart"),
    [
        ('<gazebo reference="a"><selfCollide>true</selfCollide></gazebo>', ("b", "c")),
        ('<gazebo reference="a"><selfCollide>false</selfCollide></gazebo>', ("a", "b", "c")),
        ("<gazebo><self_collide>false</self_collide></gazebo>", ("a", "b", "c")),
        ("<gazebo><self_collide>true</self_collide></gazebo>", None),
        ("", None),
    ],
)
def test_links_act_on_each_other_where_one_says_so(more, apart):
    groups = read(more)[0].filter_groups
    assert (groups[0].members if groups else None) == apart


@pytest.mark.parametrize("tag", [*UNUSED, *OF_SOLVERS])
def test_what_does_not_act_is_a_finding(tag):
    _, findings = read(f'<gazebo reference="a"><{tag}>0.5</{tag}></gazebo>')
    severity = "warning" if tag in UNUSED else "note"
    assert any(line.startswith(severity) and f"<{tag}>" in line for line in findings), findings


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('<gazebo reference="x"><mu1>1</mu1></gazebo>', "there is no link or joint"),
        ('<gazebo reference="a"><mu1>much</mu1></gazebo>', "mu1"),
        ('<gazebo reference="a"><mu1>-1</mu1></gazebo>', "friction must be"),
        ('<gazebo reference="a"><gravity>maybe</gravity></gazebo>', "gravity"),
        ('<gazebo reference="j"><mu1>1</mu1></gazebo>', "<mu1>"),
    ],
)
def test_a_fault_is_a_finding_and_the_robot_is_read(more, message):
    model, findings = read(more)
    assert model is not None and any(message in line for line in findings), findings


def test_what_is_for_pictures_is_a_note_beside_what_acts():
    model, findings = read('<gazebo reference="a"><mu1>0.5</mu1><material>Gazebo/Blue</material></gazebo>')
    assert friction(model) == (0.5, 0.5) and all(line.startswith("note") for line in findings) and findings


@pytest.mark.parametrize("content", ["<mu1/>", '<mu1 value="x"/>', "<turnGravityOff/>", '<turnGravityOff value="x"/>'])
def test_what_says_nothing_is_not_used(content):
    model, findings = read(f'<gazebo reference="a">{content}</gazebo>')
    assert model.links[0].gravity
    assert [line.startswith("warning ") for line in findings] == [True]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("</link>", '<visual group="robot">{}</visual></link>'.format("<geometry><sphere radius='1'/></geometry>")),
        ('<child link="b"/>', '<child link="b"/><limit effort="1" velocity="1" k_velocity="2"/>'),
        ('<child link="b"/>', '<child link="b"/><traits><torque minimum="1"/></traits>'),
        ('<child link="b"/>', '<child link="b"/><controller_gains kp="1"/>'),
    ],
)
def test_what_is_for_the_controllers_of_ros_is_a_note(old, new):
    diagnostics = Diagnostics()
    read_urdf(ROBOT.format(ball=BALL.format(""), more="").replace(old, new, 1).encode(), diagnostics)
    told = [(f.severity, f.code) for f in diagnostics.findings if "is for another program" in f.message]
    assert told in ([("note", "ATTRIBUTE_FOREIGN")], [("note", "ELEMENT_FOREIGN")])
    assert not [f for f in diagnostics.findings if "UNKNOWN" in f.code]


def test_links_that_a_file_takes_out_of_gravity_are_told(tmp_path):
    """In the findings of a file that is only loaded, too, and by `inspect`; in each format."""
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    off = '<gazebo reference="{}"><turnGravityOff>true</turnGravityOff></gazebo>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    links = "".join(f'<link name="{name}">{mass}</link>' for name in "ab")
    body = '<body name="{}" gravcomp="{}"><freejoint/><geom size=".1"/></body>'
    sdf = '<link name="{}"><gravity>{}</gravity></link>'
    files = {
        "r.urdf": f'<robot name="r">{links}{joint}{off.format("b")}</robot>',
        "r.sdf": f'<sdf version="1.9"><model name="r">{sdf.format("a", "1")}{sdf.format("b", "false")}</model></sdf>',
        "r.xml": f"<mujoco><worldbody>{body.format('a', 0)}{body.format('b', 1)}</worldbody></mujoco>",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        for command in ("check", "inspect"):
            result = cli("-v", command, tmp_path / name)
            assert 'note: gravity does not act on 1 of 2 links with mass: "b" [LINK_WEIGHTLESS]' in str(result), result
        assert "\nout of gravity: b\n" in cli("inspect", tmp_path / name).out
        (tmp_path / name).write_text(text.replace("true", "0").replace("false", "1").replace('"1"><free', '"0"><free'))
        assert "gravity" not in cli("inspect", tmp_path / name).out
