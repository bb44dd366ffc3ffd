"""Parameters of elements by name: --set KIND.NAME.PARAMETER=VALUE, and the same in Python."""

import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.errors import ArgumentError
from mbcli.models import ModelText, changed_parameters, load_model, parameters_of, set_parameters
from mbcli.multibody.core.finalize import renew_model
from mbcli.simulation import Worlds, simulate

INERTIA = '<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0"/>'


def link(name, mass, com="0 0 -0.5", more=""):
    inertial = f'<inertial><origin xyz="{com}"/><mass value="{mass}"/>{INERTIA}</inertial>'
    return f'<link name="{name}">{inertial}{more}</link>'


def joint(name, parent, child, kind="revolute", more='<limit lower="-2" upper="2" effort="30" velocity="5"/>'):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 -1"/><axis xyz="0 1 0"/>{more}</joint>'
    )


FOOT = '<collision name="sole"><geometry><sphere radius="0.1"/></geometry></collision>'
ARM = ModelText(
    (
        '<robot name="arm">'
        + link("base", 1)
        + link("upper", 2)
        + link("fore", 1.5, "0.1 0.2 -0.3", FOOT)
        + link("tool", 0.3)
        + joint("shoulder", "base", "upper")
        + joint("elbow", "upper", "fore")
        + joint("flange", "fore", "tool", "fixed", "")
        + "".join(
            f'<transmission name="{name}_t"><type>transmission_interface/SimpleTransmission</type>'
            f'<joint name="{name}"/><actuator name="{name}_motor"/></transmission>'
            for name in ("shoulder", "elbow")
        )
        + "</robot>"
    ).encode(),
    "arm.urdf",
)


def arm(*overrides, **loading):
    return load_model(ARM, weld=["base"], overrides=overrides, **loading)


def accelerations(loaded, q=(0.3, -0.7), v=(1.0, -2.0)):
    plant = loaded.plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    return plant.CalcForwardDynamics(context)


def by_context(change):
    """The accelerations if the context is given the parameter, as pydrake does it."""
    loaded = arm()
    plant = loaded.plant
    context = plant.CreateDefaultContext()
    change(plant, context)
    plant.SetPositions(context, (0.3, -0.7))
    plant.SetVelocities(context, (1.0, -2.0))
    return plant.CalcForwardDynamics(context)


@pytest.mark.parametrize(
    ("override", "change"),
    [
        (
            "joint.elbow.damping=0.3",
            lambda plant, context: plant.GetJointByName("elbow").SetDampingVector(context, [0.3]),
        ),
        ("body.fore.mass=2.5", lambda plant, context: plant.GetBodyByName("fore").SetMass(context, 2.5)),
        ("body.fore.mass=+1", lambda plant, context: plant.GetBodyByName("fore").SetMass(context, 2.5)),
        ("body.tool.mass=*2", lambda plant, context: plant.GetBodyByName("tool").SetMass(context, 0.6)),
        (
            "body.fore.com=[0, 0.1, -0.4]",
            lambda plant, context: plant.GetBodyByName("fore").SetCenterOfMassInBodyFrameAndPreserveCentralInertia(
                context, [0, 0.1, -0.4]
            ),
        ),
        (
            "body.fore.com.z=-0.4",
            lambda plant, context: plant.GetBodyByName("fore").SetCenterOfMassInBodyFrameAndPreserveCentralInertia(
                context, [0.1, 0.2, -0.4]
            ),
        ),
    ],
)
def test_a_parameter_acts_as_if_the_context_had_it(override, change):
    result = accelerations(arm(override))
    np.testing.assert_allclose(result, by_context(change), rtol=1e-12)
    assert np.abs(result - accelerations(arm())).max() > 1e-3


def test_rotor_and_gear_are_the_armature_of_a_joint():
    geared = arm("actuator.elbow_motor.rotor_inertia=0.01", "actuator.*.gear_ratio=5", "actuator.*.gear_ratio=*2")
    assert [a.default_gear_ratio() for a in geared.plant.elements.actuators] == [10.0, 10.0]
    np.testing.assert_allclose(accelerations(geared), accelerations(arm("joint.elbow.armature=1")), rtol=1e-12)


def test_an_inertia_is_about_the_centre_of_mass():
    M = arm("body.fore.inertia=[0.1, 0.2, 0.25, 0, 0, 0.01]").plant.GetBodyByName("fore").default_spatial_inertia()
    central = M.CalcRotationalInertia().CopyToFullMatrix3()
    com = M.get_com()
    central -= 1.5 * (com @ com * np.eye(3) - np.outer(com, com))
    np.testing.assert_allclose(central, [[0.1, 0, 0], [0, 0.2, 0.01], [0, 0.01, 0.25]], atol=1e-15)


def test_patterns_mean_all_elements_that_have_the_parameter():
    plant = arm("joint.*.damping=0.5", "body.[uf]*.mass=*3").plant
    assert [j.default_damping_vector().tolist() for j in plant.moving_joints()[:2]] == [[0.5], [0.5]]
    masses = {body.name(): body.default_mass() for body in plant.elements.bodies[1:]}
    assert masses == {"base": 1.0, "upper": 6.0, "fore": 4.5, "tool": 0.3}


def test_patterns_do_not_mean_joints_of_free_flight():
    loaded = load_model(ARM, overrides=["joint.*.damping=0.5"])
    assert not loaded.plant.GetJointByName("base").default_damping_vector().any()
    assert load_model(ARM, overrides={"joint.base.default_position.6": 0.7}).plant.GetDefaultPositions()[6] == 0.7


def test_limits_may_be_given_in_any_order():
    loaded = arm("joint.elbow.lower_limit=3", "joint.elbow.upper_limit=inf", "joint.elbow.velocity_limit=*2")
    elbow = loaded.plant.GetJointByName("elbow")
    assert (elbow.position_lower_limits()[0], elbow.position_upper_limits()[0]) == (3.0, np.inf)
    assert elbow.velocity_lower_limits()[0] == -10.0


def test_default_positions_are_where_runs_start():
    log = simulate(ARM, 0.0, weld=["base"], overrides={"joint.elbow.default_position": 0.25})
    np.testing.assert_array_equal(log.q[0], [0.0, 0.25])


def test_friction_of_a_geometry_by_its_name_and_that_of_its_body():
    for name in ("sole", "fore", "s*", "fo?e"):
        loaded = arm(f"geometry.{name}.friction=0.25", contact=True)
        (geometry,) = loaded.plant.scene_graph.registry.geometries.values()
        friction = geometry.proximity.GetProperty("material", "coulomb_friction")
        assert (friction.static_friction(), friction.dynamic_friction()) == (0.25, 0.25)
        solid = loaded.plant.compiled_geometries().solids[0]
        assert 0.25 in solid.material


def test_friction_acts_on_a_block_that_slides():
    block = ModelText(
        b'<robot name="block"><link name="body"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" '
        b'ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="1 1 0.2"/></geometry></collision></link>'
        b"</robot>",
        "block.urdf",
    )
    speeds = []
    for friction in (0.1, 0.2):
        overrides = {"geometry.body.friction": friction, "geometry.ground.friction": friction}
        log = simulate(block, 0.5, ground=0.0, start={"body_z": 0.1, "body_vx": 3.0}, overrides=overrides)
        speeds.append(log.column("body_vx")[-1])
    np.testing.assert_allclose(speeds, [3.0 - 0.1 * 9.81 * 0.5, 3.0 - 0.2 * 9.81 * 0.5], rtol=0.01)


def test_several_models_are_told_apart_by_their_instances():
    path = SAMPLES / "pendulum.urdf"
    loaded = load_model([path, path], overrides={"joint.pendulum_1::hinge.damping": 0.5})
    damping = [j.default_damping_vector()[0] for j in load_model([path, path]).plant.moving_joints()]
    assert [j.default_damping_vector()[0] for j in loaded.plant.moving_joints()] == [damping[0], 0.5]
    both = load_model([path, path], overrides={"joint.*::hinge.damping": 0.25})
    assert [j.default_damping_vector()[0] for j in both.plant.moving_joints()] == [0.25, 0.25]
    with pytest.raises(ArgumentError, match=r"can mean pendulum::hinge, pendulum_1::hinge; \*::hinge means all"):
        load_model([path, path], overrides={"joint.hinge.damping": 0.5})


def test_changed_parameters_come_back_to_the_last_bit():
    loaded = arm(contact=True)
    before, model = accelerations(loaded), loaded.plant.model
    unset = ("stiffness", "dissipation", "relaxation_time", "restitution", "bounce_threshold", "friction_across")
    unset += ("acceleration_limit",)
    overrides = [f"{path}=*0.5" for path in parameters_of(loaded) if not path.endswith(unset)]
    with changed_parameters(loaded, [*overrides, "geometry.fore.stiffness=1e5"]):
        assert np.abs(accelerations(loaded) - before).max() > 1e-3
    np.testing.assert_array_equal(accelerations(loaded), before)
    assert loaded.plant.model is model
    renew_model(loaded.plant)  # from the elements
    np.testing.assert_array_equal(accelerations(loaded), before)
    for name in ("dof_damping", "limit_value", "body_inertia"):
        np.testing.assert_array_equal(getattr(loaded.plant.model, name), getattr(model, name))
    (geometry,) = loaded.plant.scene_graph.registry.geometries.values()
    assert not geometry.proximity.HasProperty("material", "point_contact_stiffness")


def test_a_fault_leaves_the_model_as_it_was():
    loaded = arm()
    before = accelerations(loaded)
    with pytest.raises(ArgumentError, match=r"joint\.elbow\.lower_limit: 'elbow': the lower limit 5 is above"):
        set_parameters(loaded, ["body.fore.mass=9", "joint.elbow.lower_limit=5"])
    np.testing.assert_array_equal(accelerations(loaded), before)
    assert loaded.plant.GetBodyByName("fore").default_mass() == 1.5


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("joint.elbw.damping=1", "there is no joint named 'elbw'; did you mean joint.elbow.damping?"),
        ("joint.elbow.dampin=1", "a joint has no parameter 'dampin'; did you mean joint.elbow.damping?"),
        ("joint.elbow=1", "must be joint.NAME.PARAMETER; a joint has damping, friction"),
        ("jont.elbow.damping=1", "no such setting or parameter: did you mean joint.elbow.damping?"),
        ("joint.x*.damping=1", "no joint has a name like 'x*'; there are shoulder, elbow"),
        ("joint.elbow.damping=-1", "damping of joint 'elbow' must be at least 0 N m s/rad or N s/m, it is -1"),
        ("joint.elbow.damping=nan", "'nan' is not a number"),
        ("joint.elbow.damping=", "'' is not a number"),
        ("joint.elbow.damping=[1, 2]", "joint 'elbow' takes 1 numbers here, not 2"),
        ("joint.elbow.stiffness=1", "joint elbow has no stiffness"),
        ("joint.elbow.damping.1=1", "damping of 'elbow' has no component '1': 0 to 0"),
        ("body.fore.com.w=1", "com of 'fore' has no component 'w': x, y, z"),
        ("body.fore.com=1", "takes 3 numbers: [x, y, z]"),
        ("body.fore.mass=inf", "must be finite"),
        ("body.fore.inertia=[1, 1, 5, 0, 0, 0]", "'fore': RotationalInertia: not physically possible"),
        ("actuator.elbow_motor.kp=3", "actuator elbow_motor has no kp"),
        ("actuator.elbow_motor.effort_limit=0", "must be greater than 0 N m or N, it is 0"),
        ("joint.elbow.acceleration_limit=*2", "has no acceleration_limit that * could act on"),
        ("geometry.sol.friction=1", "there is no geometry named 'sol'; did you mean geometry.sole.friction?"),
        ("geometry.sole.static_friction=0", "its dynamic friction 1 is greater than its static friction 0"),
    ],
)
def test_complaints_name_the_path_and_what_is_near(override, message):
    with pytest.raises(ArgumentError) as caught:
        arm(override, contact=True)
    assert str(caught.value).startswith(f"overrides {override.partition('=')[0]}: ")
    assert message in str(caught.value)


def test_a_command_without_contact_knows_the_names_of_geometries(tmp_path):
    (tmp_path / "arm.urdf").write_bytes(ARM.content)
    ordinary = succeed("mass-matrix", tmp_path / "arm.urdf", "--weld", "base").out
    assert succeed("mass-matrix", tmp_path / "arm.urdf", "--weld", "base", "--set", "geometry.sole.friction=2").out == (
        ordinary
    )
    result = cli("mass-matrix", tmp_path / "arm.urdf", "--set", "geometry.soe.friction=2")
    assert result.code == 2 and "did you mean geometry.sole.friction?" in result.err


def test_relative_settings():
    config = load_model(ARM, overrides=["plant_config.time_step=*2", "random_seed=+3"]).config
    assert (config.plant_config.time_step, config.random_seed) == (0.002, 3)


def test_a_log_has_the_parameters_and_is_gone_on_with_by_the_same_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_bytes(ARM.content)
    run = ("simulate", "arm.urdf", "--weld", "base", "--at", "elbow=1", "--ground", "-9")
    changes = ("--set", "joint.elbow.damping=0.3", "--set", "geometry.fore.friction=0.5")
    succeed(*run, *changes, "-t", "0.2", "-o", "whole.h5")
    succeed(*run, *changes, "-t", "0.1", "-o", "part.h5")
    shown = succeed("log", "info", "part.h5", "--json").out
    assert "joint.elbow.damping=0.3" in shown
    for others in (changes[:2], (*changes[:2], "--set", "geometry.fore.friction=0.6")):
        result = cli(*run[:4], "--ground", "-9", *others, "-t", "0.2", "--resume", "part.h5", "-o", "x.h5")
        assert result.code == 3 and "of a model with other parameters" in result.err
    succeed("simulate", "--resume", "part.h5", "-t", "0.2")
    from mbcli.log import open_log

    with open_log("whole.h5") as whole, open_log("part.h5") as part:
        np.testing.assert_array_equal(whole.q, part.q)
        assert abs(whole.column("elbow")[-1] - simulate(ARM, 0.2, weld=["base"], start={"elbow": 1}).q[-1, 1]) > 1e-4


def test_the_arrays_come_back_unless_something_else_has_replaced_them():
    loaded = arm()
    plant = loaded.plant
    before = plant.model
    with changed_parameters(loaded, ["joint.*.damping=3"]):
        assert plant.model is not before
        made = plant.model
    assert plant.model is before and made.dof_damping.max() == 3.0
    with changed_parameters(loaded, ["joint.*.damping=3"]):
        set_parameters(loaded, ["body.*.mass=*2"])
    assert plant.model is not before
    assert np.allclose(plant.model.link_inertia[:, 0], 2.0 * before.link_inertia[:, 0])
    assert np.array_equal(plant.model.dof_damping, before.dof_damping)


@pytest.mark.usefixtures("ready_kernels")
def test_the_place_of_a_geometry_in_its_body_is_a_parameter():
    box = """<robot name="box"><link name="box"><inertial><mass value="2"/>
     <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
     <collision><origin rpy="0 0 1"/><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link></robot>"""
    model = load_model(ModelText(box.encode(), "box.urdf"), contact=True, ground=0.0)
    worlds = Worlds(model, 3, parameters={"geometry.box.place.z": [0.0, -0.05, "+0.02"]}, threads=1)
    worlds.q[:, 6] = 0.1, 0.15, 0.08
    worlds.step(300)
    np.testing.assert_allclose(worlds.q[:, 6], [0.1, 0.15, 0.08], atol=2e-3)
    assert np.abs(worlds.v).max() < 1e-3
    with changed_parameters(model, {"geometry.box.place": "[0, 1, 2]"}):
        pass
    beside = Worlds(model, 1, threads=1)
    beside.q[:, 6] = 0.1
    beside.step(300)
    np.testing.assert_array_equal(beside.q[0], worlds.q[0])
