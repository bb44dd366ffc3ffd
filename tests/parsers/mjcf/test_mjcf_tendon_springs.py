"""Springs and dampers of tendons over solids, and drives of joints that hold what has no gravity, beside MuJoCo."""

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.mjcf.read_mjcf import read_mjcf
from test_convert import convert_and_prove, load, motion_losses

from mbcli.models.loading import load_model
from mbcli.multibody.tree import MultibodyForces
from mbcli.simulation.running import resume, simulate, simulate_each

RANGE = 'actuatorfrcrange="-3 5" actuatorgravcomp="true"'
BEARING = """<mujoco><worldbody>
<body name="a" gravcomp="1"><joint name="a" axis="0 1 0" {}/><geom size=".05" pos=".3 0 0" mass="2"/>
 <body name="b" pos=".5 0 0" gravcomp="1"><joint name="b" axis="0 1 0" {}/><geom size=".04" pos=".2 0 .1" mass="1.5"/>
 </body></body></worldbody><actuator>{}</actuator></mujoco>"""
DRIVES = {
    "a motor and a servo": (RANGE, RANGE, '<motor name="m" joint="a"/><position name="n" joint="b" kp="20" kv="1"/>'),
    "two motors": (RANGE, "", '<motor name="m" joint="a" gear="2"/><motor name="n" joint="a"/>'),
    "a joint without an actuator": (RANGE, RANGE, '<motor name="m" joint="b"/>'),
    "a file without actuators": (RANGE, RANGE, ""),
}
ROPE = """<mujoco><option timestep="{h}"><flag contact="disable"/></option>
<default><joint axis="0 -1 0" {joint}/></default><worldbody>
<body pos="-.3 0 .2"><joint type="slide" axis="0 0 1" springref=".02"/><geom size=".03" mass=".5"/>
 <site name="s1" pos="0 0 .03"/></body>
<body pos="0 0 .3"><geom name="pin" type="cylinder" fromto="0 .05 0 0 -.05 0" size=".04" mass=".1"/>
 <joint name="j" springref="20"/><geom type="capsule" size=".01" fromto="0 0 0 .2 0 0"/>
 <site name="s2" pos=".05 0 .03"/><site name="side" pos="0 0 .06"/>
 <body pos=".2 0 0"><joint name="k"/><geom type="capsule" size=".01" fromto="0 0 0 .2 0 0"/>
  <geom name="ball" size=".03" mass=".05"/><site name="s3" pos=".1 0 -.05"/></body></body></worldbody>
<tendon><spatial name="t" {tendon}><site site="s1"/><geom geom="pin" sidesite="side"/><site site="s2"/>
 <geom geom="ball"/><site site="s3"/></spatial></tendon><actuator><motor name="m" joint="j"/></actuator></mujoco>"""
ROPES = {
    "a spring at rest where joints are": 'stiffness="100" damping="2"',
    "a spring that is slack": 'stiffness="300" springlength=".3 .5" damping="1"',
    "a damper": 'damping="3"',
    "a spring of a length": 'stiffness="100" springlength=".2"',
}
PULLEY = """<mujoco><worldbody><body pos="{r} 0 0"><joint name="w" type="slide" axis="0 0 1"/>
<geom size=".01" pos="0 0 -1" mass="2"/><site name="low" pos="0 0 -1"/></body>
<geom name="wheel" type="cylinder" fromto="0 .1 0 0 -.1 0" size="{r}"/><site name="up" pos="0 0 {r}"/>
<site name="fixed" pos="-{r} 0 -2"/></worldbody>
<tendon><spatial name="t" stiffness="40" damping="3" springlength="3"><site site="low"/>
<geom geom="wheel" sidesite="up"/>
<site site="fixed"/></spatial></tendon></mujoco>"""


def generalized_forces(plant, context, q, v, u=()):
    """Of force elements but gravity, and of what acts through transmissions under the controls u."""
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    plant.transmissions_at(context, u)
    tau, forces = context.state.data.tau.copy(), MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    of_elements = plant.CalcGeneralizedForces(context, forces)
    return tau + of_elements - plant.CalcGravityGeneralizedForces(context)


def random_state(mujoco, model, data, rng):
    data.qpos[:], data.qvel[:] = rng.uniform(-0.7, 0.7, model.nq), rng.normal(size=model.nv)
    data.ctrl[:] = 4.0 * rng.normal(size=model.nu)
    mujoco.mj_forward(model, data)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", DRIVES)
def test_drives_hold_what_has_no_gravity_within_their_limits_as_in_mujoco(kind, tmp_path):
    import mujoco

    path = tmp_path / "bearing.xml"
    path.write_text(BEARING.format(*DRIVES[kind]))
    model, plant = mujoco.MjModel.from_xml_path(str(path)), load_model(str(path), contact=False).plant
    assert plant.num_actuated_dofs() == model.nu
    data, rng, context = mujoco.MjData(model), np.random.default_rng(1), plant.CreateDefaultContext()
    for _ in range(40):
        random_state(mujoco, model, data, rng)
        free = data.qfrc_gravcomp  # what links without gravity have in any case
        want = data.qfrc_actuator + data.qfrc_passive - free
        forces = generalized_forces(plant, context, data.qpos, data.qvel, data.ctrl)
        np.testing.assert_allclose(forces, want, atol=1e-12)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", ROPES)
def test_springs_of_tendons_over_solids_are_those_of_mujoco(kind, tmp_path):
    import mujoco

    path = tmp_path / "rope.xml"
    path.write_text(ROPE.format(h=0.002, joint="", tendon=ROPES[kind]))
    model, plant = mujoco.MjModel.from_xml_path(str(path)), load_model(str(path), contact=False).plant
    data, rng, context = mujoco.MjData(model), np.random.default_rng(2), plant.CreateDefaultContext()
    for _ in range(40):
        random_state(mujoco, model, data, rng)
        forces = generalized_forces(plant, context, data.qpos, data.qvel, data.ctrl)
        np.testing.assert_allclose(forces, data.qfrc_passive, atol=1e-11)
        mujoco.mj_energyPos(model, data)
        assert plant.CalcPotentialEnergy(context) == pytest.approx(float(data.energy[0]), rel=1e-11, abs=1e-11)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", ROPES)
def test_motion_with_springs_of_tendons_is_that_of_mujoco_at_small_steps(kind, tmp_path):
    import mujoco

    path, apart = tmp_path / "rope.xml", []
    for h in (0.002, 0.001):
        text = ROPE.format(h=h, joint='damping=".05"', tendon=ROPES[kind])
        path.write_text(text)
        model = mujoco.MjModel.from_xml_path(str(path))
        model.opt.integrator = int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, round(0.3 / h))
        log = simulate(load_model(str(path), contact=False, dt=h), duration=0.3)
        apart.append(np.abs(np.asarray(log.q)[-1] - data.qpos).max())
    assert apart[0] < 5e-2 and apart[1] < 0.6 * apart[0]


def test_a_weight_on_a_rope_over_a_wheel_has_the_force_of_its_spring(tmp_path):
    r, z, w = 0.25, -0.3, 0.4
    path = tmp_path / "pulley.xml"
    path.write_text(PULLEY.format(r=r))
    plant = load_model(str(path), contact=False).plant
    context = plant.CreateDefaultContext()
    stretch = (1.0 - z) + np.pi * r + 2.0 - 3.0
    assert generalized_forces(plant, context, [z], [w]) == pytest.approx([40.0 * stretch - 3.0 * w], rel=1e-12)
    energy = 0.5 * 40.0 * stretch**2 + 2.0 * 9.81 * (z - 1.0)
    assert plant.CalcPotentialEnergy(context) == pytest.approx(energy, rel=1e-12)
    assert plant.CalcConservativePower(context) == pytest.approx((40.0 * stretch - 2.0 * 9.81) * w, rel=1e-12)
    assert plant.CalcNonConservativePower(context) == pytest.approx(-3.0 * w**2, rel=1e-12)
    robot = load_model(str(path), contact=False, dt=1e-3)
    log, part = simulate(robot, 8.0, balance=True), simulate(robot, 0.2, log=tmp_path / "part.h5")
    more = resume(part, robot, 0.4, to=tmp_path / "more.h5")
    np.testing.assert_array_equal(more.q[-1], log[0.0:0.4].q[-1])
    balance = log.summary.balance
    assert (
        balance["force_elements"] == pytest.approx(balance["energy_change"], rel=1e-4) and balance["actuators"] == 0.0
    )
    at_rest = 1.0 + np.pi * r + 2.0 - 3.0 - 2.0 * 9.81 / 40.0  # where the spring bears the weight
    assert np.asarray(log.q)[-1] == pytest.approx([at_rest], abs=2e-2)


STRUT = """<mujoco><worldbody><site name="w" pos="0 0 1"/>
<body pos=".3 0 .6"><joint name="w" type="slide" axis="0 0 1"/><geom size=".05" mass="1"/><site name="s"/></body>
</worldbody><tendon><spatial stiffness="50"><site site="w"/><site site="s"/></spatial></tendon></mujoco>"""


@pytest.mark.parametrize("text", [PULLEY.format(r=0.25), STRUT], ids=["rope", "strut"])
def test_worlds_with_springs_that_nothing_drives_are_the_single_runs(text, tmp_path):
    """Their energy is looked at, which functions of many states do not know."""
    path, lines = tmp_path / "model.xml", []
    path.write_text(text)
    robot = load_model(str(path), contact=False, dt=1e-3)
    worlds = simulate_each(robot, {"w": [0.0, -0.1]}, 0.1, log=tmp_path / "all.h5", fields="energy", warn=lines.append)
    for k, start in enumerate((0.0, -0.1)):
        one = simulate(robot, 0.1, start={"w": start}, fields="energy")
        np.testing.assert_array_equal(worlds.q[k], one.q)
        np.testing.assert_array_equal(worlds.world(k)["potential"], one["potential"])
    assert lines == []


def test_a_drive_that_is_too_weak_lets_a_weight_fall(tmp_path):
    path = tmp_path / "weak.xml"
    limits = 'actuatorfrcrange="-2 2" actuatorgravcomp="true"'
    path.write_text(BEARING.format(limits, "", '<motor name="m" joint="a"/>'))
    plant = load_model(str(path), contact=False).plant
    context = plant.CreateDefaultContext()
    plant.transmissions_at(context, [0.0])
    weight = 9.81 * (2.0 * 0.3 + 1.5 * 0.7)
    borne = [weight - 2.0, 0.0]  # of these links, which have no weight here; about y, which turns x to -z
    assert context.state.data.tau == pytest.approx(borne, rel=1e-12)


@pytest.mark.parametrize("kind", ["two motors", *ROPES])
def test_they_are_written_and_read_back(kind):
    rope = ROPE.format(h=0.002, joint="", tendon=ROPES.get(kind, ""))
    text = BEARING.format(*DRIVES[kind]) if kind in DRIVES else rope
    conversion = convert_and_prove(*load(text, "mjcf"), "mjcf")
    assert not motion_losses(conversion)
    again = convert_and_prove(*load(conversion.text.decode(), "mjcf"), "mjcf")
    assert again.text.split(b"\n")[3:] == conversion.text.split(b"\n")[3:]  # but for the comment


def test_other_formats_name_the_springs_that_they_leave_out():
    conversion = convert_and_prove(*load(ROPE.format(h=0.002, joint="", tendon=ROPES["a damper"]), "mjcf"), "sdf")
    assert "SPRING" in motion_losses(conversion)


def test_nothing_is_left_out():
    for text in (BEARING.format(*DRIVES["two motors"]), ROPE.format(h=0.002, joint="", tendon=ROPES["a damper"])):
        diagnostics = Diagnostics()
        read_mjcf(text.encode(), diagnostics)
        codes = {finding.code for finding in diagnostics.findings}
        assert not codes & {"ATTRIBUTE_UNSUPPORTED", "ELEMENT_UNSUPPORTED"}
