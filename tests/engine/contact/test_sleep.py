"""Islands that sleep: what lies still stays where it is, and wakes as if it had been awake."""

import numpy as np
import pytest
from command_line import cli, succeed
from contact_scenes import APPROXIMATIONS, FALL, Scene, own_library
from hydroelastic_scenes import HydroelasticScene
from test_cli_simulate import assert_same_rows

from mbcli.errors import ModelError
from mbcli.log.reader import Log
from mbcli.models import load_model
from mbcli.multibody.contact.sleep import context_of_steps
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
from mbcli.multibody.stepping import discrete_steps
from mbcli.multibody.stepping.run import Run

H = 2e-3  # [s]
SIZE = 0.1  # [m] of boxes
LIMIT = 1e-3  # [m/s]
LIGHTLY_DAMPED = {"dissipation": 10.0, "tau": 0.02}  # falls asleep later, nearer to where it comes to rest


def scene(approximation="lagged", limit=LIMIT, h=H, **given):
    made = Scene(own_library(), h, approximation, **given)
    made.plant.set_sleep_tolerance(limit)
    return made


def stack(approximation="lagged", limit=LIMIT, levels=3, ball=False, lone=False, **given):
    """Boxes on each other on the ground; a ball of 0.5 kg at their side; a box that lies alone."""
    made = scene(approximation, limit, **{"dissipation": 100.0, "tau": 0.05, **given})
    made.ground()
    for k in range(levels):
        made.box(f"box_{k}", 1.0, (SIZE, SIZE, SIZE))
    if lone:
        made.box("lone", 2.0, (SIZE, SIZE, SIZE))
    if ball:
        made.ball("ball", 0.5, 0.05)
    made.start()
    for k in range(levels):
        made.place(f"box_{k}", (0.002 * k, 0.0, SIZE * (k + 0.5)))
    if lone:
        made.place("lone", (3.0, 0.0, 0.5 * SIZE))
    if ball:
        made.place("ball", (-1.0, 0.0, 0.25), velocity=(0.0, 0.0, 0.0))
    return made


def sleeping(made):
    """How many bodies of a scene sleep."""
    sleeper = made.context.state.sleeper
    return 0 if sleeper is None else sleeper.state.contact.sleep.count()


def until_asleep(made, count, most=1500):
    """Steps until so many bodies sleep."""
    for _ in range(most // 10):
        made.steps(10)
        if sleeping(made) == count:
            return made
    raise AssertionError(f"{sleeping(made)} of {count} bodies sleep, the fastest is at {np.abs(made.v).max()}")


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_stack_comes_to_rest_and_does_not_change_any_more(approximation):
    made = until_asleep(stack(approximation), 3)
    q = made.q
    assert not made.v.any()
    made.steps(200)
    assert np.array_equal(made.q, q)
    assert sleeping(made) == 3


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_what_sleeps_is_where_it_would_have_come_to_rest(approximation):
    made = until_asleep(stack(approximation, **LIGHTLY_DAMPED), 3).steps(500)
    other = stack(approximation, limit=0.0, **LIGHTLY_DAMPED)
    other.steps(made._done)
    assert other.context.state.sleeper is None
    np.testing.assert_allclose(made.q, other.q, atol=5e-5)  # the others creep on: 1 s, more slowly than LIMIT


def test_without_a_tolerance_the_context_itself_steps_with_kernels_that_know_nothing_of_sleep():
    made = stack(limit=0.0)
    assert MultibodyPlant(H).get_sleep_tolerance() == 0.0
    assert context_of_steps(made.plant, made.context) is made.context
    made.steps(2)
    assert "sleep" not in made.context.state.kernels.kind.split("-")


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_as_long_as_nothing_sleeps_steps_are_those_without_sleep_to_the_last_bit(approximation):
    made, other = stack(approximation), stack(approximation, limit=0.0)
    for _ in range(8):
        made.steps(5)
        other.steps(5)
        assert np.array_equal(made.q, other.q) and np.array_equal(made.v, other.v)
    assert sleeping(made) == 0


def woken(approximation):
    """A stack that sleeps until a ball comes down on it: the scene after the step that wakes it, and (q, v) before."""
    made = stack(approximation, ball=True)
    made.place("ball", (0.03, 0.01, 8.0), velocity=(0.0, 0.02, 0.0), spin=(1.0, 2.0, 3.0))
    for _ in range(800):
        before, slept = (made.q, made.v), sleeping(made)
        made.steps(1)
        if slept == 3 and sleeping(made) == 0:
            return made, before
    raise AssertionError(f"nothing was hit: {made.where('ball')}, {sleeping(made)} bodies sleep")


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_ball_that_hits_a_sleeping_stack_moves_it_as_one_that_is_awake(approximation):
    made, before = woken(approximation)
    other = stack(approximation, limit=0.0, ball=True)
    other.set(*before)
    other.steps(1)
    assert np.array_equal(before[1][:18], np.zeros(18))
    assert np.abs(made.v[:18]).max() > 0.05
    np.testing.assert_allclose(made.v, other.v, atol=1e-12)
    made.steps(30)
    other.steps(30)
    np.testing.assert_allclose(made.q, other.q, atol=1e-10)


def test_only_the_island_that_is_hit_wakes():
    made = stack(ball=True, lone=True)
    made.place("ball", (0.03, 0.01, 8.0))
    slept = [sleeping(made.steps(5)) for _ in range(200)]
    assert slept[0] == 0 and slept.index(1) < slept.index(4) and 1 in slept[slept.index(4) :]
    assert made.where("lone")[0] == 3.0


def test_a_ball_at_the_top_of_its_flight_does_not_sleep():
    made = scene(h=1e-4)
    made.ball("ball", 1.0, 0.05)
    made.start().place("ball", (0.0, 0.0, 1.0), velocity=(0.0, 0.0, 0.1))
    made.steps(102)
    assert abs(made.velocity("ball")[2]) < LIMIT
    assert sleeping(made) == 0


@pytest.mark.parametrize("slope", [0.05, 0.004])
def test_a_ball_that_turns_back_or_begins_to_roll_on_a_slope_does_not_sleep(slope):
    """On the second slope it is slower than the limit for 0.07 s."""
    other = None
    for limit in (LIMIT, 0.0):
        made = scene(limit=limit, friction=0.8)
        made.collide(made.plant.world_body(), made.lib.HalfSpace(), tilted(made.lib, slope))
        made.ball("up", 1.0, 0.05)
        made.ball("down", 1.0, 0.05)
        made.start()
        high = 0.05 / np.cos(slope)
        made.place("up", (0.0, 0.0, high), velocity=(0.01, 0.0, 0.0), spin=(0.0, 0.2, 0.0))
        made.place("down", (0.0, 1.0, high))
        speeds = [made.steps(5).velocity("up")[0] for _ in range(100)]
        assert sleeping(made) == 0
        assert min(speeds) < -LIMIT < LIMIT < max(speeds)
        assert other is None or np.array_equal(made.q, other)
        other = made.q


def tilted(lib, slope):
    """The pose of a plane that rises along x."""
    return lib.RigidTransform(lib.RollPitchYaw(0.0, -slope, 0.0), [0.0, 0.0, 0.0])


def test_a_pendulum_that_slides_along_a_wall_does_not_sleep_where_it_turns():
    made = scene(friction=0.0)
    made.fixed_box((4.0, SIZE, 4.0), (0.0, 0.0999, -1.0))
    bob = made.ball("bob", 1.0, 0.05)
    from_hinge = made.plant.AddFrame(
        own_library().FixedOffsetFrame("hinge", bob.body_frame(), made.lib.RigidTransform([0.0, 0.0, 1.0]))
    )
    made.plant.AddJoint(own_library().RevoluteJoint("hinge", made.plant.world_frame(), from_hinge, [0.0, 1.0, 0.0]))
    made.start()
    made.set([0.02], [0.0])
    turned = 0
    for _ in range(600):  # 0.6 of a period
        before = made.v[0]
        made.steps(1)
        turned += before * made.v[0] < 0.0
        assert sleeping(made) == 0
    assert turned == 1 and len(made.contacts()) == 1


@pytest.mark.parametrize("speed, sleeps", [(0.002, 0), (0.0005, 1)])
def test_a_box_sleeps_only_if_it_slides_more_slowly_than_the_limit(speed, sleeps):
    made = scene(friction=0.0)
    made.ground()
    made.box("box", 1.0, (SIZE, SIZE, SIZE))
    made.start().place("box", (0.0, 0.0, 0.5 * SIZE - 5e-4), velocity=(speed, 0.0, 0.0))
    made.steps(600)
    assert sleeping(made) == sleeps
    if not sleeps:
        assert made.where("box")[0] == pytest.approx(600 * H * speed, rel=1e-6)


def test_trees_with_motors_or_springs_do_not_sleep_nor_what_lies_on_them():
    made = scene()
    made.ground()
    lift = made.box("lift", 1.0, (SIZE, SIZE, SIZE))
    joint = made.plant.AddJoint(
        own_library().PrismaticJoint("up", made.plant.world_frame(), lift.body_frame(), [0.0, 0.0, 1.0])
    )
    made.plant.AddJointActuator("motor", joint)
    made.box("load", 1.0, (SIZE, SIZE, SIZE))
    made.box("beside", 1.0, (SIZE, SIZE, SIZE))
    made.start()
    made.plant.SetPositions(made.context, made.plant.GetModelInstanceByName("DefaultModelInstance"), made.q)
    joint.set_translation(made.context, 0.5 * SIZE)
    made.place("load", (0.0, 0.0, 1.5 * SIZE))
    made.place("beside", (1.0, 0.0, 0.5 * SIZE))
    until_asleep(made, 1).steps(300)
    assert sleeping(made) == 1
    assert np.abs(made.v).max() < LIMIT


def test_a_change_from_outside_wakes_everything():
    made = until_asleep(stack(lone=True), 4)
    made.plant.SetPositions(made.context, made.q)
    made.steps(1)
    assert sleeping(made) == 4  # nothing has changed
    made.place("box_0", (5.0, 0.0, 0.5 * SIZE))  # the others stood on it
    made.steps(1)
    assert sleeping(made) == 0
    made.steps(49)
    assert made.where("box_1")[2] < 1.5 * SIZE - 0.03
    until_asleep(made, 4)
    made.plant.GetBodyByName("lone").SetMass(made.context, 3.0)
    made.steps(1)
    assert sleeping(made) == 0


def test_what_is_pushed_through_a_port_does_not_sleep():
    made = until_asleep(stack(), 3)
    push = ExternallyAppliedSpatialForce()
    push.body_index = made.plant.GetBodyByName("box_2").index()
    push.F_Bq_W = SpatialForce([0.0, 0.0, 0.0], [20.0, 0.0, 0.0])
    made.plant.get_applied_spatial_force_input_port().FixValue(made.context, [push])
    made.steps(50)
    assert sleeping(made) == 0
    assert made.velocity("box_2")[0] > 0.1


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_the_contacts_of_what_sleeps_carry_its_weight_in_samples_and_ports(approximation):
    made = until_asleep(stack(approximation, lone=True, **LIGHTLY_DAMPED), 4)
    sampled = Run(made.plant, made.context, made.context.get_time() + 10 * H, keep=("contacts",))
    rows = [row for samples in sampled.blocks() for row in weights(made, samples.contacts)]
    assert len(rows) == 11
    np.testing.assert_allclose(rows, 5.0 * FALL, rtol=2e-5)
    in_ports = sum(abs(info.contact_force()[2]) for info in made.contacts() if below(made, info))
    assert in_ports == pytest.approx(5.0 * FALL, rel=2e-5)


def weights(made, sampled):
    """The vertical force of the ground in each row of SampledContacts."""
    solids = made.context.state.sleeper.state.contact.geometries.solids
    is_world = np.array([solid.body == 0 for solid in solids])[sampled.contacts.solid]
    for first, end in zip(sampled.offset[:-1], sampled.offset[1:], strict=True):
        of_world = is_world[first:end].any(axis=1)
        yield np.abs(sampled.contacts.force[first:end][of_world, 2]).sum()


def below(made, info):
    return made.plant.world_body().index() in (info.bodyA_index(), info.bodyB_index())


# going on


def recorded(run):
    """All that a run yields, as one list of arrays."""
    rows = []
    for s in run.blocks():
        contacts = s.contacts.contacts
        counts = np.diff(s.contacts.offset)
        rows += [np.column_stack([s.time, s.q, s.v, s.energy, counts, s.contacts.iterations, s.contacts.residual])]
        rows += [np.column_stack([contacts.solid, contacts.position, contacts.force, contacts.distance])]
    return np.concatenate(rows[0::2]), np.concatenate(rows[1::2])


def thrown(approximation):
    """A stack and a box that fall asleep; a ball comes down on the stack after 1.1 s."""
    made = stack(approximation, ball=True, lone=True)
    made.place("ball", (0.03, 0.01, 3.0), velocity=(0.0, 0.02, 3.0))
    return made


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_run_goes_on_to_the_same_rows_bit_for_bit(approximation):
    end = 700 * H
    whole = thrown(approximation)
    run = Run(whole.plant, whole.context, end, keep=("contacts",))
    states, contacts = recorded(run)
    assert run.sleep.count() > 0
    for split in (1, 100, 330, 450, 560, 650):
        made = thrown(approximation)
        first = Run(made.plant, made.context, split * H, keep=("contacts",))
        rows, points = recorded(first)
        kept = first.checkpoint()
        again = thrown(approximation)
        again.plant.SetPositions(again.context, kept["q"])
        again.plant.SetVelocities(again.context, kept["v"])
        again.context.SetTime(kept["time"])
        second = Run(again.plant, again.context, end, keep=("contacts",), going_on=kept)
        more, others = recorded(second)
        assert np.array_equal(np.concatenate([rows[:-1], more]), states, equal_nan=True), split
        start = len(points) - int(rows[-1, -3])
        assert np.array_equal(np.concatenate([points[:start], others]), contacts), split
        assert np.array_equal(second.sleep.remembered["sleep"], run.sleep.remembered["sleep"])


def test_rows_do_not_depend_on_how_many_steps_a_call_takes(monkeypatch):
    rows = []
    for budget in (1, 7, 100_000):
        with monkeypatch.context() as patch:
            patch.setattr(discrete_steps, "adapted", lambda number, seconds, budget=budget: budget)
            made = thrown("lagged")
            rows.append(recorded(Run(made.plant, made.context, 500 * H, keep=("contacts",))))
    for other in rows[1:]:
        assert all(map(np.array_equal, rows[0], other))


def test_whatever_is_asked_of_the_context_between_steps_changes_nothing():
    made, other = thrown("lagged"), thrown("lagged")
    rng = np.random.default_rng(5)
    for k in range(80):
        q, v = made.q, made.v
        made.plant.SetPositions(made.context, q + rng.uniform(0.0, 0.1, q.size))
        made.plant.CalcMassMatrix(made.context)
        made.plant.get_contact_results_output_port().Eval(made.context)
        made.plant.SetPositions(made.context, q)
        made.plant.SetVelocities(made.context, v)
        made.steps(5)
        other.steps(5)
        assert np.array_equal(made.q, other.q), k
    assert sleeping(made) == sleeping(other)


def test_interpreted_and_compiled_steps_agree(monkeypatch):
    ends = []
    for jit in ("0", "1"):
        monkeypatch.setenv("MBCLI_JIT", jit)
        made = stack(levels=2, h=5e-3)
        counts = [sleeping(made.steps(10)) for _ in range(16)]
        ends.append((made.q, counts))
    assert ends[0][1] == ends[1][1] and 2 in ends[0][1]
    np.testing.assert_allclose(ends[0][0], ends[1][0], atol=1e-10)


# what it does not do


def test_the_energy_that_sleep_takes_is_in_the_balance_and_small():
    made = stack()
    run = Run(made.plant, made.context, 600 * H, keep=("balance",))
    for _ in run.blocks():
        pass
    assert run.sleep.count() == 3
    balance = run.energy_balance()
    work = balance.contact + balance.unexplained
    assert balance.energy_change == pytest.approx(work + balance.rest, abs=1e-12)
    assert abs(balance.unexplained) < 3 * 1.0 * LIMIT * FALL * H
    assert abs(balance.rest) < 0.1 * balance.flow


def test_continuous_plants_and_bad_tolerances_are_refused():
    with pytest.raises(RuntimeError, match="set_sleep_tolerance: the plant is continuous"):
        MultibodyPlant(0.0).set_sleep_tolerance(1e-3)
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(RuntimeError, match="finite and not negative"):
            MultibodyPlant(H).set_sleep_tolerance(bad)
    made = stack(levels=1)
    with pytest.raises(RuntimeError, match="finalized"):
        made.plant.set_sleep_tolerance(0.0)


def test_worlds_do_not_sleep_and_say_so():
    from mbcli.simulation.worlds import Worlds

    with pytest.raises(ModelError, match="nothing sleeps in worlds"):
        Worlds(stack(levels=1).plant, 2)


def test_what_was_remembered_of_another_model_is_refused():
    made = stack(levels=2)
    with pytest.raises(ModelError, match="the sleep of 5 trees is known, and there are 2"):
        Run(made.plant, made.context, H, going_on={"sleep": np.zeros(5, dtype=int), "rest_start": np.zeros(30)})


# the command

BOXES = """<sdf version="1.9"><model name="pile">{}</model></sdf>"""
BOX = """<link name="box_{0}"><pose>0.002 0 {1} 0 0 0</pose><inertial><mass>1</mass><inertia><ixx>0.0017</ixx>
<iyy>0.0017</iyy><izz>0.0017</izz></inertia></inertial><collision name="c"><geometry><box><size>0.1 0.1 0.1</size></box>
</geometry></collision></link>"""


@pytest.fixture
def pile(tmp_path):
    path = tmp_path / "pile.sdf"
    path.write_text(BOXES.format("".join(BOX.format(k, 0.0495 + 0.099 * k) for k in range(2))))
    return path


def test_a_log_is_gone_on_with_to_the_same_rows_and_says_how_many_bodies_sleep(pile, tmp_path):
    words = ("-q", "simulate", pile, "--ground", "--sleep", "--dt", "0.005", "--log-rate", "0")
    whole = succeed(*words, "-t", "2", "-o", tmp_path / "whole.h5", "--json").json()
    assert whole["contact"]["sleeping_bodies"] == 2
    assert whole["v"] == [0.0] * 12
    for k, end in enumerate(("0.3", "1.9")):
        log = tmp_path / f"{k}.h5"
        succeed(*words, "-t", end, "-o", log)
        succeed("-q", "simulate", "--resume", log, "-t", "2")
        assert_same_rows(log, tmp_path / "whole.h5")
    with Log(tmp_path / "0.h5") as log:
        assert list(log.read_checkpoint()["sleep"]) == [-1, -1]
    succeed("log", "verify", tmp_path / "0.h5")
    text = succeed("-q", "simulate", pile, "--ground", "--sleep", "0.002", "--dt", "0.005", "-t", "2", "--no-log").out
    assert "2 bodies sleep at the end" in text


def test_a_number_after_sleep_is_the_tolerance_and_what_cannot_sleep_is_refused(pile, tmp_path):
    taken = load_model(pile, contact=True, sleep=0.002).plant
    assert taken.get_sleep_tolerance() == 0.002
    refused = cli("simulate", pile, "--sleep", "--dt", "0", "--no-log")
    assert refused.code == 2 and "--sleep is for discrete plants" in refused.err
    summary = succeed("-q", "simulate", pile, "--ground", "-t", "0.01", "--no-log", "--json").json()
    assert "sleeping_bodies" not in summary["contact"]


def test_a_contact_surface_of_what_sleeps_keeps_its_faces():
    import mbcli.all as lib

    made = HydroelasticScene(lib, step=H)
    made.plant.set_sleep_tolerance(LIMIT)
    made.add(("Box", SIZE, SIZE, SIZE), {"kind": "soft", "modulus": 1e5, "dissipation": 100.0})
    made.fix(("HalfSpace",), {"kind": "rigid"})
    made.plant.Finalize()
    context = made.plant.CreateDefaultContext()
    body = made.plant.GetBodyByName("b")
    made.plant.SetFreeBodyPose(context, body, lib.RigidTransform([0.0, 0.0, 0.5 * SIZE - 1e-3]))
    run = Run(made.plant, context, 600 * H, keep=("contacts",))
    rows = [(s.time, s.contacts) for s in run.blocks()]
    assert run.sleep.count() == 1
    first = rows[0][1]
    last = rows[-1][1]
    faces = []
    for sampled in (first, last):  # awake, asleep
        start, end = sampled.offset[-2:]
        corners = np.diff(sampled.contacts.corner_start)[start:end]
        assert (corners >= 3).all() and len(corners) == end - start > 0
        faces.append((sampled.contacts.area[start:end].sum(), abs(sampled.contacts.force[start:end, 2].sum())))
    assert faces[1][0] == pytest.approx(faces[0][0], rel=1e-2)
    assert faces[1][1] == pytest.approx(FALL, rel=1e-3)
