"""Plugins of Gazebo in files: what is read, what is a finding, and that nothing of one is passed over."""

import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.sdf.read_sdf import read_sdf
from mbcli.parsers.urdf.read_urdf import read_urdf
from repository import ROOT

from mbcli.plugins import NOT_HERE, PLUGINS

PAGE = (ROOT / "docs" / "reference" / "plugins.md").read_text(encoding="utf-8")
BODY = """<link name="a"/><link name="b"/><joint name="j" type="revolute"><parent>a</parent><child>b</child>
<axis><xyz>0 0 1</xyz></axis></joint><joint name="f" type="ball"><parent>world</parent><child>a</child></joint>"""
ROTOR = "<jointName>j</jointName><linkName>b</linkName>"


def sdf(content, name="gz::sim::systems::MulticopterMotorModel", more="", body=BODY):
    diagnostics = Diagnostics()
    plugin = f'<plugin name="{name}" filename="x">{content}</plugin>'
    text = f'<sdf version="1.10"><model name="m">{body}{plugin}{more}</model></sdf>'
    models = read_sdf(text.encode(), diagnostics, name="m.sdf")
    return models[0].plugins if models else None, [str(finding) for finding in diagnostics.findings]


def test_a_plugin_has_its_joints_links_and_numbers():
    (plugin,), findings = sdf(f"{ROTOR}<motorConstant>2e-5</motorConstant><turningDirection>cw</turningDirection>")
    assert not findings and plugin.kind == "multicopter_motor_model" and plugin.place.line
    assert dict(plugin.joints) == {"joint": ("j",)} and dict(plugin.links) == {"link": ("b",)}
    assert plugin.settings["motor_constant"] == 2e-5 and plugin.settings["turning_direction"] == "cw"
    assert plugin.settings["time_constant_up"] == 1 / 80


@pytest.mark.parametrize("prefix", ["gz::sim::systems::", "ignition::gazebo::systems::", ""])
def test_its_class_says_what_it_is(prefix):
    assert sdf("<joint_name>j</joint_name>", f"{prefix}ApplyJointForce")[0][0].kind == "apply_joint_force"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<linkName>b</linkName>", "has no <jointName>"),
        ("<jointName>k</jointName><linkName>b</linkName>", 'there is no joint "k" in the model'),
        ("<jointName>j</jointName><linkName>c</linkName>", 'there is no link "c" in the model'),
        ("<jointName>f</jointName><linkName>b</linkName>", 'joint "f" is ball'),
        (ROTOR + "<motorConstant>much</motorConstant>", "motorConstant"),
        (ROTOR + "<timeConstantUp>-1</timeConstantUp>", "<timeConstantUp> must be at least 0"),
        (ROTOR + "<turningDirection>up</turningDirection>", "<turningDirection> must be cw or ccw"),
        (ROTOR + "<motorType>force</motorType>", "<motorType> must be velocity"),
        (ROTOR + "<rotorVelocitySlowdownSim>0</rotorVelocitySlowdownSim>", "must be positive"),
    ],
)
def test_a_plugin_at_fault_is_left_out_with_a_warning(content, message):
    plugins, findings = sdf(content)
    assert plugins == () and any(message in line and "warning" in line for line in findings), findings
    assert any("the plugin does not act" in line for line in findings)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no <left_joint> or no <right_joint>"),
        ("<steering_only>1</steering_only>", ""),
        ("<use_actuator_msg>1</use_actuator_msg>", ""),
        ("<left_joint>j</left_joint><right_joint>j</right_joint>", ""),
        ("<steering_only>1</steering_only><steering_limit>2</steering_limit>", "<steering_limit> must be between"),
        (
            "<left_joint>j</left_joint><right_joint>j</right_joint><kingpin_width>9</kingpin_width>",
            "<kingpin_width> is too large",
        ),
        ("<steering_only>1</steering_only><kingpin_width>9</kingpin_width>", ""),
        ("<steering_only>1</steering_only><wheel_separation>9</wheel_separation>", "<wheel_separation> is too large"),
        ("<steering_only>1</steering_only><wheel_base>0</wheel_base>", "<wheel_base> must be positive"),
    ],
)
def test_a_car_has_wheels_and_sizes(content, message):
    steering = "<left_steering_joint>j</left_steering_joint><right_steering_joint>j</right_steering_joint>"
    plugins, findings = sdf(steering + content, "gz::sim::systems::AckermannSteering")
    if message:
        assert plugins == () and message in findings[0]
    else:
        assert len(plugins) == 1 and not findings


def test_a_trajectory_controller_takes_all_joints_unless_it_names_some():
    name = "gz::sim::systems::JointTrajectoryController"
    more = '<link name="c"/><joint name="k" type="prismatic"><parent>b</parent><child>c</child><axis/></joint>'
    gains = "<position_p_gain>1</position_p_gain><position_p_gain>2</position_p_gain>"
    (plugin,), findings = sdf(gains, name, more)
    assert not findings and dict(plugin.joints) == {"joint": ("j", "k")}
    assert plugin.settings["position_p_gain"] == (1.0, 2.0)
    (plugin,), findings = sdf("<joint_name>k</joint_name>", name, more)
    assert dict(plugin.joints) == {"joint": ("k",)}
    plugins, findings = sdf(f"<joint_name>k</joint_name>{gains}", name, more)
    assert plugins == () and "more <position_p_gain> than joints" in findings[0]
    plugins, findings = sdf("", name, body='<link name="a"/>')
    assert plugins == () and "no joint of one axis" in findings[0]


def test_what_a_plugin_does_not_read_is_a_finding():
    (plugin,), findings = sdf(f"{ROTOR}<commandSubTopic>c</commandSubTopic><wobble>1</wobble>")
    assert any("<commandSubTopic>" in line and "note" in line for line in findings)
    assert any("<wobble>" in line and "warning" in line for line in findings)


def test_added_mass_is_a_warning():
    (plugin,), findings = sdf("<link_name>a</link_name><xDotU>5</xDotU>", "gz::sim::systems::Hydrodynamics")
    assert plugin.kind == "hydrodynamics" and "<xDotU>" in findings[0] and "warning" in findings[0]


@pytest.mark.parametrize("name", sorted(NOT_HERE))
def test_what_would_move_something_and_does_not_act_is_a_warning(name):
    plugins, findings = sdf("<a>1</a>", f"gz::sim::systems::{name}")
    assert plugins == () and any(f"{name} does not act" in line and "warning" in line for line in findings)


def test_plugins_of_a_simulator_are_notes_and_those_of_models_are_none_of_a_world():
    assert "note" in sdf("", "gz::sim::systems::SceneBroadcaster")[1][0]
    text = '<sdf version="1.10"><world name="w"><plugin name="x::LiftDrag" filename="f"/></world></sdf>'
    diagnostics = Diagnostics()
    read_sdf(text.encode(), diagnostics, name="w.sdf")
    assert "acts in a model" in str(diagnostics.findings[0])


@pytest.mark.parametrize("name", [kind.CLASSES[0] for kind in PLUGINS.values() if kind.REACH])
def test_plugins_of_a_world_are_none_of_a_model(name):
    plugins, findings = sdf("", f"gz::sim::systems::{name}")
    assert plugins == () and f"{name} acts in a world" in findings[0]


def world(content, name, model=f'<model name="m">{BODY}</model>'):
    diagnostics = Diagnostics()
    plugin = f'<plugin name="gz::sim::systems::{name}" filename="x">{content}</plugin>'
    text = f'<sdf version="1.10"><world name="w">{plugin}{model}</world></sdf>'
    (spec,) = read_sdf(text.encode(), diagnostics, name="w.sdf")
    return spec.plugins, [str(finding) for finding in diagnostics.findings]


def test_wind_reaches_links_that_feel_it():
    windy = BODY.replace('<link name="a"/>', '<link name="a"><enable_wind>1</enable_wind></link>')
    models = f'<model name="m">{windy}</model><model name="n"><static>1</static><link name="k"><enable_wind>1'
    models += "</enable_wind></link></model>"
    content = "<horizontal><magnitude><time_for_rise>2</time_for_rise><noise/></magnitude></horizontal>"
    (plugin,), findings = world(content, "WindEffects", models)
    assert dict(plugin.links) == {"link": ("m::a",)} and plugin.settings["rise"] == 2.0
    assert len(findings) == 2 and "<noise>" in findings[0] and "the plugin acts without it" in findings[0]
    assert "<enable_wind>" in findings[1] and "note" in findings[1]  # of the static model
    plugins, findings = world("", "WindEffects")
    assert plugins == () and "WindEffects reaches no link" in findings[0]
    plugins, findings = world("<vertical><time_for_rise>0</time_for_rise></vertical>", "WindEffects", models)
    assert plugins == () and "must be positive" in findings[0]


def test_a_fluid_reaches_shapes_of_what_moves():
    shape = '<collision name="c"><geometry><sphere><radius>1</radius></sphere></geometry></collision>'
    models = "".join(
        f'<model name="{name}">{more}<link name="a">{shape}</link><link name="b"/></model>'
        for name, more in (("m", ""), ("n", ""), ("s", "<static>1</static>"))
    )
    (plugin,), findings = world("", "Buoyancy", models)
    assert not findings and dict(plugin.links)["link"] == ("m::a", "n::a")
    (plugin,), findings = world("<enable>n</enable><enable>k</enable>", "Buoyancy", models)
    assert dict(plugin.links)["link"] == ("n::a",) and len(plugin.settings["solids"]) == 1
    assert len(findings) == 1 and 'reaches nothing of the name "k"' in findings[0]
    layer = "<density_change><above_depth>{}</above_depth><density>1</density>{}</density_change>"
    graded = "<graded_buoyancy>{}</graded_buoyancy>"
    (plugin,), findings = world(graded.format(layer.format(2, "<colour/>") + layer.format(1, "")), "Buoyancy", models)
    assert plugin.settings["changes"] == ((2.0, 1.0), (1.0, 1.0))
    assert "<colour>" in findings[0] and "the plugin acts without it" in findings[0]
    for content, message in (
        (graded.format("<density_change><above_depth>0</above_depth></density_change>"), "<density>"),
        (graded.format(layer.format("deep", "")), "above_depth"),
        (graded.format(layer.format(0, "")) + "<uniform_fluid_density>1</uniform_fluid_density>", "it has"),
        ("<uniform_fluid_density>-1</uniform_fluid_density>", "at least 0"),
    ):
        plugins, findings = world(content, "Buoyancy", models)
        assert plugins == () and any(message in line and "does not act" in line for line in findings), findings


def test_joints_and_links_of_nested_models_are_named_by_them():
    inner = f'<model name="in">{BODY}</model>'
    content = "<jointName>in::j</jointName><linkName>in::b</linkName>"
    (plugin,), findings = sdf(content, more=inner, body="")
    assert not findings and dict(plugin.joints)["joint"] == ("in::j",)


def test_an_include_adds_plugins_to_what_it_includes(tmp_path):
    (tmp_path / "m.sdf").write_text(f'<sdf version="1.10"><model name="m">{BODY}</model></sdf>')
    plugin = '<plugin name="gz::sim::systems::ApplyJointForce" filename="f"><joint_name>j</joint_name></plugin>'
    world = tmp_path / "w.sdf"
    world.write_text(f'<sdf version="1.10"><world name="w"><include><uri>m.sdf</uri>{plugin}</include></world></sdf>')
    diagnostics = Diagnostics()
    (spec,) = read_sdf(str(world), diagnostics)
    assert not diagnostics.findings and spec.models[0].plugins[0].kind == "apply_joint_force"


def test_urdf_has_them_in_gazebo_elements():
    robot = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>
    <child link="b"/></joint><gazebo><plugin name="{}" filename="f"><joint_name>j</joint_name></plugin>
    </gazebo></robot>"""
    diagnostics = Diagnostics()
    model = read_urdf(robot.format("gz::sim::systems::JointController").encode(), diagnostics)
    assert model.plugins[0].kind == "joint_controller"
    assert not [
        finding for finding in diagnostics.findings if "plugin" in finding.message or "gazebo" in finding.message
    ]
    diagnostics = Diagnostics()
    assert read_urdf(robot.format("gz::sim::systems::MecanumDrive").encode(), diagnostics).plugins == ()
    assert any("MecanumDrive does not act" in finding.message for finding in diagnostics.findings)
    diagnostics = Diagnostics()
    assert read_urdf(robot.format("gazebo_ros2_control").encode(), diagnostics).plugins == ()
    assert any("<gazebo>" in finding.message for finding in diagnostics.findings)


@pytest.mark.parametrize("name", [name for name, kind in PLUGINS.items() if kind.CLASSES])
def test_the_page_has_every_plugin_and_parameter(name):
    kind = PLUGINS[name]
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| `{kind.CLASSES[0]}` |"))
    assert all(f"`{tag}`" in line for tag in (*kind.JOINTS, *kind.LINKS))
    if name not in ("diff_drive", "joint_position_controller"):  # which say their limits and gains together
        silent = {"disable_coriolis", "disable_added_mass", "water_density", "velocity_control"}
        assert all(f"`{tag}`" in line for tag in kind.SETTINGS if tag not in silent)
