"""The energy of compliant contact: what is stored comes back, and with friction and dissipation the balance closes."""

import json

import numpy as np
import pytest
from command_line import succeed
from contact_scenes import Scene, own_library
from hydroelastic_scenes import HydroelasticScene
from test_torsional_friction import ball as turning_ball

from mbcli import all as own
from mbcli.config.simulator_config import SimulatorConfig
from mbcli.log.reader import Log
from mbcli.multibody.contact.point_contact import contacts_of_state
from mbcli.multibody.stepping.compliance_energy import compliance_energies
from mbcli.multibody.stepping.run import Run

GRAVITY, MASS, RADIUS, STIFFNESS = 9.81, 1.0, 0.1, 2e4
HEIGHT = 0.02  # of the fall
SPEED = np.sqrt(2.0 * GRAVITY * HEIGHT)
FALL = SPEED / GRAVITY


def point_ball(h, dissipation=0.0, friction=0.5, approximation="lagged"):
    """A ball over the ground that it touches at a point, of STIFFNESS together."""
    scene = Scene(own_library(), h, approximation, dissipation=dissipation, tau=0.0, friction=friction, v_s=1e-3)
    scene.ground(stiffness=2 * STIFFNESS)
    scene.ball("ball", MASS, RADIUS, stiffness=2 * STIFFNESS)
    scene.start()
    scene.place("ball", [0.0, 0.0, RADIUS + HEIGHT])
    return scene.plant, scene.context


def soft_ball(h, dissipation=0.0, friction=0.5, surface="polygon"):
    """A ball with a pressure field over a rigid half space."""
    scene = HydroelasticScene(own, h, surface=surface)
    scene.add(
        ("Sphere", RADIUS),
        {"kind": "soft", "modulus": 1e6, "hint": 0.03, "dissipation": dissipation, "friction": friction},
    )
    scene.fix(("HalfSpace",), {"kind": "rigid", "friction": friction})
    scene.start()
    scene.place([0.0123, 0.004, RADIUS + HEIGHT])
    return scene.plant, scene.context


BALLS = {"point": point_ball, "surface": soft_ball}


def balance_of(plant, context, until, accuracy=1e-8):
    config = None
    if not plant.is_discrete():
        config = SimulatorConfig(integration_scheme="runge_kutta3", accuracy=accuracy, max_step_size=2e-3)
    run = Run(plant, context, until, keep=("balance",), **({} if config is None else {"config": config}))
    list(run.blocks())
    balance = run.energy_balance()
    parts = balance.contact_friction + balance.contact_dissipation - balance.compliance_change
    assert balance.contact == pytest.approx(parts, rel=1e-12, abs=1e-15)
    return balance


def deepest(kind):
    """About the time of the largest pressure: a quarter of a swing after the touch."""
    if kind == "point":
        return FALL + 0.5 * np.pi * np.sqrt(MASS / STIFFNESS)
    return FALL + 0.015


# ------------------------------------------------------------------------------------- continuous plants


def test_the_energy_of_a_point_is_that_of_a_spring():
    plant, context = point_ball(0.0)
    for z, expected in ((RADIUS + 0.01, 0.0), (RADIUS - 0.004, 0.5 * STIFFNESS * 0.004**2)):
        plant.SetFreeBodyPose(context, plant.GetBodyByName("ball"), own.RigidTransform([0.0, 0.0, z]))
        _, record = contacts_of_state(plant, context)
        assert compliance_energies(record).sum() == pytest.approx(expected, rel=1e-12)


def test_the_energy_of_a_surface_is_the_work_of_its_pressure():
    """The integral of the force of a ball over the depth, up to what its field curves."""
    plant, context = soft_ball(0.0)
    body = plant.GetBodyByName("b")
    depths = np.linspace(0.0, 0.1 * RADIUS, 41)
    forces, energies = [], []
    for depth in depths:
        plant.SetFreeBodyPose(context, body, own.RigidTransform([0.0123, 0.004, RADIUS - depth]))
        _, record = contacts_of_state(plant, context)
        forces.append(abs(record.force[:, 2].sum()))
        energies.append(compliance_energies(record).sum())
    work = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(depths) * (np.array(forces)[1:] + forces[:-1]))])
    np.testing.assert_allclose(np.array(energies)[10:], work[10:], rtol=0.01)
    assert energies[0] == 0.0


def test_a_ball_on_a_spring_exchanges_its_energy_to_the_accuracy_of_the_integrator():
    """While it is pressed in, what it lost is stored, k x^2 / 2; after the bounce it is all back."""
    plant, context = point_ball(0.0)
    pressed = balance_of(plant, context, deepest("point"))
    depth = RADIUS - plant.GetPositions(context)[6]
    assert pressed.compliance_change == pytest.approx(0.5 * STIFFNESS * depth**2, rel=1e-9)
    assert pressed.compliance_change > 0.9 * MASS * GRAVITY * HEIGHT
    assert pressed.energy_change == pytest.approx(-pressed.compliance_change, rel=1e-6)
    assert abs(pressed.contact_dissipation) < 1e-6 * pressed.flow and pressed.contact_friction == 0.0
    plant, context = point_ball(0.0)
    after = balance_of(plant, context, 2.5 * FALL)
    assert after.compliance_change == 0.0
    assert max(abs(after.energy_change), abs(after.contact)) < 1e-6 * after.flow


@pytest.mark.parametrize("surface", ["polygon", "triangle"])
def test_a_soft_ball_gives_back_what_its_surface_stored(surface):
    plant, context = soft_ball(0.0, surface=surface)
    pressed = balance_of(plant, context, deepest("surface"), accuracy=1e-6)
    assert pressed.compliance_change > 0.5 * MASS * GRAVITY * HEIGHT
    assert pressed.energy_change == pytest.approx(-pressed.compliance_change, rel=0.01)
    plant, context = soft_ball(0.0, surface=surface)
    after = balance_of(plant, context, FALL + 0.04, accuracy=1e-6)
    assert after.compliance_change == 0.0 and plant.GetVelocities(context)[5] > 0.8 * SPEED
    assert max(abs(after.energy_change), abs(after.contact_dissipation)) < 1e-5 * after.flow


@pytest.mark.parametrize("kind", list(BALLS))
def test_dissipation_takes_what_a_bounce_loses(kind):
    plant, context = BALLS[kind](0.0, dissipation=0.3)
    balance = balance_of(plant, context, 3.0 * FALL, accuracy=1e-6)
    assert balance.compliance_change == 0.0
    assert balance.contact_dissipation < -0.05 * MASS * GRAVITY * HEIGHT
    assert balance.energy_change == pytest.approx(balance.contact_dissipation, rel=1e-3)


# ------------------------------------------------------------------------------------- discrete plants


@pytest.mark.parametrize("kind", list(BALLS))
def test_the_balance_of_steps_closes_at_first_order(kind):
    """Without dissipation the energy that contact loses goes with the step, and is booked as its error."""
    errors, losses = [], []
    for h in (2e-4, 1e-4):
        plant, context = BALLS[kind](h)
        pressed = balance_of(plant, context, deepest(kind))
        assert pressed.compliance_change > 0.5 * MASS * GRAVITY * HEIGHT
        assert abs(pressed.unexplained) < 1e-6 * pressed.flow
        errors.append(abs(pressed.energy_change + pressed.compliance_change))
        plant, context = BALLS[kind](h)
        after = balance_of(plant, context, FALL + 0.04)
        assert after.compliance_change == 0.0
        assert after.contact_dissipation == 0.0  # no material dissipates: what steps lose is an error of theirs
        losses.append(after.rest)
    assert errors[1] < 0.05 * MASS * GRAVITY * HEIGHT
    assert losses[0] / losses[1] == pytest.approx(2.0, rel=0.1) and losses[0] < 0.0


@pytest.mark.parametrize("approximation", ["lagged", "similar", "sap", "tamsi"])
def test_springs_of_all_approximations_store_the_same(approximation):
    plant, context = point_ball(1e-4, approximation=approximation)
    pressed = balance_of(plant, context, deepest("point"))
    depth = RADIUS - plant.GetPositions(context)[6]
    assert pressed.compliance_change == pytest.approx(0.5 * STIFFNESS * depth**2, rel=1e-9)
    assert abs(pressed.energy_change + pressed.compliance_change) < 0.05 * MASS * GRAVITY * HEIGHT


@pytest.mark.parametrize("h", [0.0, 5e-4])
@pytest.mark.parametrize("kind", list(BALLS))
def test_friction_takes_energy_from_what_slides(kind, h):
    """The friction of a ball that slides, and begins to roll, is against its slip; without friction there is none."""
    works = []
    for friction in (0.4, 0.0):
        plant, context = BALLS[kind](h, dissipation=2.0, friction=friction)
        velocities = plant.GetVelocities(context)
        velocities[3] = 1.0
        plant.SetVelocities(context, velocities)
        balance = balance_of(plant, context, 2.0 * FALL, accuracy=1e-5)
        works.append(balance.contact_friction)
        assert balance.contact_dissipation < 0.0
        if friction:
            v = plant.GetVelocities(context)
            inertia = 0.4 * MASS * RADIUS**2
            lost = 0.5 * MASS * (v[3] ** 2 - 1.0) + 0.5 * inertia * (v[:3] ** 2).sum()
            assert balance.contact_friction == pytest.approx(lost, rel=0.1)
    assert works[0] < -0.05 and works[1] == 0.0


@pytest.mark.parametrize("law", ["lagged", "sap", "continuous"])
def test_friction_takes_energy_from_what_spins(law):
    """Torsional friction is friction: what a spinning ball loses is its work."""
    spin = 10.0
    _, plant, context = turning_ball('condim="4" friction="1 0.002"', law, (0, 0, spin, 0, 0, 0))
    balance = balance_of(plant, context, 0.2, accuracy=1e-6)
    v = plant.GetVelocities(context)
    lost = 0.5 * 0.4 * 0.1**2 * (v[2] ** 2 - spin**2)
    assert v[2] < spin - 0.5 and lost < 0.0
    assert balance.contact_friction == pytest.approx(lost, rel=0.01)


# ------------------------------------------------------------------------------------- commands and logs


@pytest.mark.usefixtures("ready_kernels")
def test_a_log_has_the_energy_of_compliance_and_the_command_the_balance(tmp_path):
    model = tmp_path / "ball.urdf"
    model.write_text(
        '<robot name="ball" xmlns:drake="http://drake.mit.edu"><link name="ball"><inertial><mass value="1"/>'
        '<inertia ixx="0.004" iyy="0.004" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial><collision name="skin">'
        '<geometry><sphere radius="0.1"/></geometry><drake:proximity_properties><drake:mesh_resolution_hint '
        'value="0.05"/><drake:compliant_hydroelastic/><drake:hydroelastic_modulus value="1e6"/>'
        '<drake:hunt_crossley_dissipation value="0"/></drake:proximity_properties></collision></link></robot>'
    )
    path = tmp_path / "run.h5"
    run = ("simulate", model, "--ground", "--at", "ball_z=0.1", "--at", "ball_vz=-0.6", "-t", 0.03, "--dt", 0.0001)
    fields = ("--fields", "energy,compliance,contact", "--log-rate", 0)
    result = json.loads(succeed("-q", *run, *fields, "--balance", "--json", "-o", path).out)
    with Log(path) as log:
        stored, energy = log.field("derived/energy_compliance"), log.energy.sum(axis=1)
        assert log.units["derived/energy_compliance"] == ("J",)
        depth = np.maximum(0.1 - log.column("ball_z"), 0.0)
    assert stored[0] == pytest.approx(0.0, abs=1e-9) and stored.max() > 0.1
    assert (np.diff(stored[np.argsort(depth)]) > -1e-9).all()  # the deeper the more
    assert np.ptp(energy + stored) < 0.1 * stored.max() and np.ptp(energy) > 0.9 * stored.max()
    balance = result["balance"]
    assert balance["compliance_change"] == pytest.approx(stored[-1] - stored[0], abs=1e-6)
    text = succeed(*run, "--balance", "--no-log").out
    assert "compliant contact stores" in text and "dissipation" in text


def test_a_model_without_contact_stores_nothing(tmp_path):
    plant, context = point_ball(1e-3)
    plant.SetFreeBodyPose(context, plant.GetBodyByName("ball"), own.RigidTransform([0.0, 0.0, 5.0]))
    balance = balance_of(plant, context, 0.1)
    assert (balance.compliance_change, balance.contact_friction, balance.contact_dissipation) == (0.0, 0.0, 0.0)
