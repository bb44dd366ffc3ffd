"""Worlds: each takes the steps of a single run, whatever its neighbours, threads and lanes; one that stops is alone."""

import threading

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.errors import ArgumentError, ModelError, NumericalError
from mbcli.models import load_model
from mbcli.simulation import Input, RecordedRun, Run, Worlds

ARM, QUADRUPED = SAMPLES / "arm7.urdf", SAMPLES / "quadruped.urdf"
COUNT = 11  # a group of eight and a part of one
STEPS = 40
# of lanes: fused sums and polynomials in a step, times what forty steps make of it
ROUNDING = 1e-12

BALL = """<robot name="ball"><link name="ball">
 <inertial><mass value="2"/><inertia ixx="0.008" iyy="0.008" izz="0.008" ixy="0" ixz="0" iyz="0"/></inertial>
 <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""
LEVER = """<robot name="lever"><link name="world"/><link name="rod"><inertial><origin xyz="0.2 0 0"/>
 <mass value="1.5"/><inertia ixx="0.002" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="hinge" type="revolute"><parent link="world"/><child link="rod"/><axis xyz="0 1 0"/>
 <limit lower="-1" upper="0.3" effort="2" velocity="9"/><dynamics damping="0.02"/></joint>
 <link name="weight"><inertial><mass value="0.5"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/>
 </inertial></link><joint name="slide" type="prismatic"><parent link="rod"/><child link="weight"/><axis xyz="1 0 0"/>
 <limit lower="-0.1" upper="0.1" effort="20" velocity="9"/></joint>
 <transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="hinge"/>
 <actuator name="motor"/></transmission></robot>"""


def written(folder, text, name="model.urdf"):
    path = folder / name
    path.write_text(text)
    return path


def scattered(worlds, seed=0, speed=1.0):
    """Gives worlds other states and actuations; returns copies of q, v, u."""
    rng = np.random.default_rng(seed)
    plant = worlds.plant
    worlds.v += speed * rng.normal(size=worlds.v.shape)
    worlds.u += rng.normal(size=worlds.u.shape)
    for joint in plant.moving_joints():
        if joint.num_positions() == 1:
            worlds.q[:, joint.position_start()] += 0.1 * rng.normal(size=len(worlds))
    return worlds.q.copy(), worlds.v.copy(), worlds.u.copy()


def single(loaded, q, v, u, steps=STEPS):
    """[q; v] after each step (steps, nq + nv) of a run; u is (nu,) or (steps, nu)."""
    plant, h = loaded.plant, loaded.plant.time_step()
    run = RecordedRun(loaded)  # with its controllers
    run.prepare()
    plant.SetPositions(run.context, q)
    plant.SetVelocities(run.context, v)
    rows = np.atleast_2d(u)
    inputs = Input(h * np.arange(len(rows)), rows)
    blocks = list(Run(plant, run.context, steps * h, actuation=inputs).blocks())
    run.release()
    _, rows = np.unique(np.concatenate([b.time for b in blocks]), return_index=True)  # a step may be done again
    return np.hstack([np.vstack([getattr(b, name) for b in blocks]) for name in ("q", "v")])[rows][1:]


def singles(loaded, q, v, u, steps=STEPS):
    return np.array([single(loaded, *state, steps) for state in zip(q, v, u, strict=True)])


MODELS = {
    "arm": (ARM, {}),
    "quadruped on the ground": (QUADRUPED, {"contact": True, "ground": -0.25}),
    "quadruped held on the ground": (QUADRUPED, {"contact": True, "ground": -0.25, "hold": True}),
    "four-bar": (SAMPLES / "closed_chains" / "four_bar.urdf", {}),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    path, options = MODELS[request.param]
    return load_model(path, **{"dt": 0.002} | options)


def test_a_world_takes_the_steps_of_a_single_run_to_the_last_bit(model):
    worlds = Worlds(model, COUNT, threads=2, lanes=False)
    free = not model.plant.elements.constraints
    q, v, u = scattered(worlds, speed=0.5) if free else (worlds.q.copy(), worlds.v.copy(), worlds.u.copy())
    if not free:
        worlds.u += 0.1 * np.arange(COUNT)[:, np.newaxis]
        u = worlds.u.copy()
    samples = worlds.rollout(STEPS)
    assert samples.shape == (COUNT, STEPS, q.shape[1] + v.shape[1])
    assert (samples == singles(model, q, v, u)).all()
    assert (np.hstack([worlds.q, worlds.v]) == samples[:, -1]).all()
    np.testing.assert_allclose(worlds.time, STEPS * 0.002)
    assert not worlds.failures()


def test_threads_calls_and_neighbours_do_not_matter(model):
    if model.plant.elements.constraints:
        pytest.skip("states off the constraints are no start")
    worlds = Worlds(model, COUNT, threads=3)
    q, v, u = scattered(worlds)
    samples = worlds.rollout(STEPS, every=10)
    one_by_one = Worlds(model, COUNT, threads=1)
    one_by_one.q, one_by_one.v, one_by_one.u = q, v, u
    for _ in range(STEPS):
        one_by_one.step()
    assert (np.hstack([one_by_one.q, one_by_one.v]) == samples[:, -1]).all()
    few = Worlds(model, 3, threads=2)
    few.q, few.v, few.u = q[[4, 9, 2]], v[[4, 9, 2]], u[[4, 9, 2]]
    assert (few.rollout(STEPS, every=10) == samples[[4, 9, 2]]).all()


def test_lanes_equal_single_runs_to_rounding(tmp_path):
    """Also where a world leaves its lane: at limits of joints and of efforts; a free body turns its quaternion."""
    held = load_model(written(tmp_path, LEVER), dt=0.002, hold=True, kp=40.0, kd=1.0)
    floating = load_model(QUADRUPED, dt=0.002)
    for loaded, speed in ((load_model(ARM, dt=0.002), 2.0), (held, 2.0), (held, 0.05), (floating, 1.0)):
        worlds = Worlds(loaded, COUNT, threads=1)
        assert worlds._stepping.workers[0][0]._lanes is not None
        q, v, u = scattered(worlds, speed=speed)
        expected = singles(loaded, q, v, u)
        samples = worlds.rollout(STEPS)
        scale = 1.0 + np.abs(expected).max()
        np.testing.assert_allclose(samples, expected, rtol=0.0, atol=ROUNDING * scale)


def test_limits_are_met_in_the_scene_of_lanes(tmp_path):
    """What the test above relies on: some worlds reach limits, and some efforts their bound, others neither."""
    held = load_model(written(tmp_path, LEVER), dt=0.002, hold=True, kp=40.0, kd=1.0)
    worlds = Worlds(held, COUNT, threads=1)
    scattered(worlds, speed=2.0)
    samples = worlds.rollout(STEPS)
    at_stop = (np.abs(samples[:, :, 1]) > 0.0999).any(axis=1)
    assert at_stop.any()
    assert not at_stop.all()
    slow = Worlds(held, COUNT, threads=1)
    scattered(slow, speed=0.05)
    efforts = 40.0 * (slow.q[:, 0] - slow.desired[:, 0, 0]) + slow.v[:, 0] - slow.u[:, 0]
    assert (np.abs(efforts) > 2.0).any()
    assert (np.abs(efforts) < 2.0).any()


def test_actuation_differs_by_step_and_world():
    loaded = load_model(ARM, dt=0.002)
    worlds = Worlds(loaded, 3, threads=2, lanes=False)
    u = np.random.default_rng(1).normal(size=(3, STEPS, loaded.plant.num_actuators()))
    if u.shape[2] == 0:
        pytest.fail("the sample arm has actuators")
    start = worlds.q.copy(), worlds.v.copy()
    samples = worlds.rollout(STEPS, u, every=4)
    expected = singles(loaded, *start, u)
    assert (samples == expected[:, 3::4]).all()
    worlds.reset()
    assert (worlds.time == 0.0).all()
    in_lanes = Worlds(loaded, 3).rollout(STEPS, u)
    np.testing.assert_allclose(in_lanes, expected, rtol=0.0, atol=ROUNDING * (1.0 + np.abs(expected).max()))
    shared = worlds.rollout(STEPS, u[0])
    assert (shared == shared[:1]).all()
    assert (shared[0, 3::4] == samples[0]).all()


def test_parameters_are_those_of_the_world():
    options = {"dt": 0.002, "contact": True, "ground": -0.25, "hold": True, "kp": 30.0, "kd": 1.0}
    loaded = load_model(QUADRUPED, **options)
    parameters = {
        "body.trunk.mass": np.array([8.0, 12.0, 8.0]),
        "geometry.*.friction": ["0.2", "0.2", "0.9"],
        "joint.*.damping": 0.1,
    }
    worlds = Worlds(loaded, 3, parameters=parameters, threads=2)
    worlds.v[:, 3] = 0.5
    q, v, u = worlds.q.copy(), worlds.v.copy(), worlds.u.copy()
    samples = worlds.rollout(STEPS)
    assert not (samples[0] == samples[1]).all()
    assert not (samples[0] == samples[2]).all()
    for k in range(3):
        own = {path: value if np.ndim(value) == 0 else value[k] for path, value in parameters.items()}
        alone = load_model(QUADRUPED, overrides=own, **options)  # with gains that do not follow from the masses
        assert (single(alone, q[k], v[k], u[k]) == samples[k]).all()
    plain = Worlds(loaded, 1)  # the model is as it was
    plain.v[:, 3] = 0.5
    assert not (plain.rollout(STEPS)[0] == samples[0]).all()


def test_gains_are_parameters(tmp_path):
    path = written(tmp_path, LEVER)
    loaded = load_model(path, dt=0.002, hold=True, kp=40.0, kd=3.0)
    worlds = Worlds(loaded, 2, parameters={"actuator.motor.kp": [40.0, 80.0]}, lanes=False)
    q, v, u = scattered(worlds, speed=0.1)
    samples = worlds.rollout(STEPS)
    assert (samples[0] == single(loaded, q[0], v[0], u[0])).all()
    stiff = Worlds(load_model(path, dt=0.002, hold=True, kp=80.0, kd=3.0), 1, lanes=False)
    stiff.q, stiff.v, stiff.u = q[1], v[1], u[1]
    slide = Worlds(loaded, 1, parameters={"actuator.*.kp": 80.0}, lanes=False)
    slide.q, slide.v, slide.u = q[1], v[1], u[1]
    assert (slide.rollout(STEPS) == stiff.rollout(STEPS)).all()
    assert not (samples[1] == samples[0]).any()


def test_equal_parameters_share_their_arrays():
    loaded = load_model(ARM, dt=0.002)
    worlds = Worlds(loaded, 1000, threads=2, parameters={"joint.*.damping": np.repeat([0.1, 0.2], 500)})
    assert sum(map(len, worlds._stepping.workers.values())) <= 4
    assert len({id(w.state.model) for workers in worlds._stepping.workers.values() for w in workers}) == 2


def test_contact_that_needs_more_room_gets_it(tmp_path):
    """A hundred balls on the ground have more contacts than there is room for at first."""
    files = [written(tmp_path, BALL.replace("ball", f"ball_{k}"), f"ball_{k}.urdf") for k in range(100)]
    loaded = load_model(files, dt=0.002, contact=True, ground=0.0)
    worlds = Worlds(loaded, 2, threads=2)
    for k in range(100):
        worlds.q[:, 7 * k + 4 : 7 * k + 7] = 0.3 * (k % 10), 0.3 * (k // 10), 0.0999
    worlds.v[1] += 0.1
    q, v, u = worlds.q.copy(), worlds.v.copy(), worlds.u.copy()
    samples = worlds.rollout(5)
    assert not worlds.failures()
    assert (samples == singles(loaded, q, v, u, 5)).all()


@pytest.mark.parametrize("lanes", [False, True])
def test_a_world_that_cannot_go_on_stops_alone(lanes):
    loaded = load_model(ARM, dt=0.002)
    worlds = Worlds(loaded, 10, threads=2, lanes=lanes)
    whole = Worlds(loaded, 10, threads=2, lanes=lanes)
    worlds.rollout(10), whole.rollout(10)
    worlds.v[3, 0] = 1e200
    last = worlds.q[3].copy()
    samples, expected = worlds.rollout(10, every=2), whole.rollout(10, every=2)
    others = np.arange(10) != 3
    assert (samples[others] == expected[others]).all()
    assert np.isnan(samples[3]).all()
    assert (worlds.status != 0).tolist() == (~others).tolist()
    assert list(worlds.failures()) == [3]
    assert "not finite" in worlds.failures()[3]
    assert (worlds.q[3] == last).all()
    np.testing.assert_allclose(worlds.time, np.where(others, 0.04, 0.02))
    worlds.step(5)  # it stays where it is
    assert (worlds.q[3] == last).all()
    worlds.reset([3])
    assert not worlds.failures()
    worlds.step(3)
    np.testing.assert_allclose(worlds.time, np.where(others, 0.056, 0.006))
    assert np.isfinite(worlds.q).all()
    with pytest.raises(NumericalError, match="not finite"):  # as the single run says
        single(loaded, last, np.r_[1e200, np.zeros(6)], np.zeros(loaded.plant.num_actuators()))


def test_a_reset_forgets_why_a_world_stopped():
    worlds = Worlds(load_model(ARM, dt=0.002), 3)
    worlds._messages.update({0: "old", 1: "old", 2: "old"})
    worlds.reset([0])
    worlds.reset(np.array([False, True, False]))
    assert worlds._messages == {2: "old"}
    worlds.reset()
    assert worlds._messages == {}


def test_desired_positions_are_a_live_view(tmp_path):
    strong = LEVER.replace('effort="2"', 'effort="20"')
    held = load_model(written(tmp_path, strong), dt=0.002, hold=True, kp=40.0, kd=3.0)
    worlds = Worlds(held, 9)
    assert worlds.controlled == ["lever_motor", "lever_slide"]
    aims = np.linspace(-0.05, 0.05, 9)
    worlds.desired[:, 0, 0], worlds.desired[:, 1, 0] = aims, -0.5 * aims
    worlds.step(4000)
    np.testing.assert_allclose(worlds.v, 0.0, atol=1e-7)
    turned, out = worlds.q.T
    about_y = 9.81 * (1.5 * 0.2 + 0.5 * out) * np.cos(turned)  # torque of gravity
    np.testing.assert_allclose(40.0 * (aims - turned) + about_y, 0.0, atol=1e-6)
    np.testing.assert_allclose(40.0 * (-0.5 * aims - out) + 9.81 * 0.5 * np.sin(turned), 0.0, atol=1e-6)


def test_worlds_start_as_a_context_that_is_given():
    loaded = load_model(ARM, dt=0.002)
    plant = loaded.plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, np.linspace(-0.3, 0.3, 7))
    plant.SetVelocities(context, np.linspace(0.3, -0.3, 7))
    joint = plant.GetJointByName("joint_3")
    joint.Lock(context)
    context.SetTime(0.5)
    worlds = Worlds(plant, 2, start=context)
    worlds.step(10)
    assert (worlds.q[:, 2] == plant.GetPositions(context)[2]).all()
    assert (worlds.q[:, 0] != plant.GetPositions(context)[0]).all()
    np.testing.assert_allclose(worlds.time, 0.52)


def test_interpreted_worlds_are_the_same(monkeypatch):
    loaded = load_model(QUADRUPED, dt=0.002, contact=True, ground=-0.25, hold=True)
    compiled = Worlds(loaded, 3)
    scattered(compiled, speed=0.5)
    monkeypatch.setenv("MBCLI_JIT", "0")
    interpreted = Worlds(load_model(QUADRUPED, dt=0.002, contact=True, ground=-0.25, hold=True), 3)
    scattered(interpreted, speed=0.5)
    np.testing.assert_allclose(interpreted.rollout(3), compiled.rollout(3), rtol=0.0, atol=1e-10)


def test_what_is_near_in_one_world_is_not_taken_for_another(tmp_path, monkeypatch):
    """Pairs of elements of meshes are kept from step to step: not from world to world."""
    monkeypatch.setenv("MBCLI_JIT", "0")
    soft = BALL.replace('<robot name="ball">', '<robot name="ball" xmlns:drake="http://drake.mit.edu">').replace(
        "</geometry>",
        "</geometry><drake:proximity_properties><drake:compliant_hydroelastic/>"
        '<drake:mesh_resolution_hint value="0.1"/><drake:hydroelastic_modulus value="1e6"/>'
        "</drake:proximity_properties>",
    )
    files = [written(tmp_path, soft.replace("ball", f"ball_{k}"), f"{k}.urdf") for k in range(2)]
    loaded = load_model(files, dt=0.002, contact=True)
    worlds = Worlds(loaded, 2, threads=1)
    assert len(worlds._stepping.workers[0][0].contact.collision.kept)
    worlds.q[:, 13] = 0.18, 0.19
    worlds.v[:, 6] = 0.3
    q, v, u = worlds.q.copy(), worlds.v.copy(), worlds.u.copy()
    for _ in range(3):
        worlds.step()
    assert (np.abs(worlds.v[:, 11] + 3 * 0.002 * 9.81) > 1e-4).all()  # they touch
    expected = singles(loaded, q, v, u, 3)[:, -1]
    assert (np.hstack([worlds.q, worlds.v]) == expected).all()


def test_threads_end_with_the_worlds():
    worlds = Worlds(load_model(ARM, dt=0.002), 64, threads=2)
    worlds.step()
    assert threading.active_count() >= 2
    pool = worlds._stepping.pool
    del worlds
    assert pool._shutdown or pool._work_queue.empty()


# refusals


def test_what_cannot_be_is_refused(tmp_path):
    loaded = load_model(ARM, dt=0.002)
    for arguments, message in (
        ({"count": 0}, "count is 0"),
        ({"count": 2, "threads": 0}, "threads is 0"),
        ({"count": 2, "parameters": {"joint.*.damping": [1.0]}}, "has 1 values, there are 2 worlds"),
        ({"count": 2, "parameters": {"joint.nose.damping": 1.0}}, "no joint named 'nose'"),
        ({"count": 2, "parameters": {"joint.*.damping": -1.0}}, "damping"),
    ):
        with pytest.raises(ArgumentError, match=message):
            Worlds(loaded, **arguments)
    worlds = Worlds(loaded, 2)
    with pytest.raises(ArgumentError, match=r"u has shape \(3,\), expected \(2, 5"):
        worlds.rollout(5, [0.0, 0.0, 0.0])
    with pytest.raises(ArgumentError, match="every is 0"):
        worlds.rollout(5, every=0)
    with pytest.raises(ArgumentError, match="steps is -1"):
        worlds.step(-1)
    with pytest.raises(ModelError, match="discrete"):
        Worlds(load_model(ARM, dt=0.0), 2)
    sponge = load_model(SAMPLES / "deformable" / "sponge.sdf", contact=True)
    with pytest.raises(ModelError, match="deformable"):
        Worlds(sponge, 2)


def test_rows_that_do_not_fit_are_refused_and_others_are_copied():
    worlds = Worlds(load_model(ARM, dt=0.002), 2)
    view = worlds.q
    worlds.q = np.ones(7)
    assert (view == 1.0).all()
    with pytest.raises(ValueError, match="broadcast"):
        worlds.q = np.ones((3, 7))


def test_contact_forces_of_worlds_are_those_of_single_contexts_however_many_there_are(tmp_path):
    feet = "".join(
        f'<collision><origin xyz="{0.1 * (k % 11)} {0.1 * (k // 11)} 0"/>'
        '<geometry><box size="0.05 0.05 0.1"/></geometry></collision>'
        for k in range(77)
    )
    (tmp_path / "mat.urdf").write_text(f"""<robot name="mat"><link name="mat"><inertial><origin xyz="0.5 0.3 0"/>
     <mass value="3"/><inertia ixx="0.2" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial>{feet}</link>
     </robot>""")
    model = load_model(tmp_path / "mat.urdf", contact=True, ground=0.0)
    worlds = Worlds(model, 4, threads=2)
    worlds.q[:, 6] += np.array([-5e-5, -1e-4, 0.5, -2e-4])
    worlds.v[:, 3] = 0.2, 0.1, 0.0, -0.3
    before = np.hstack([worlds.q, worlds.v])
    for _ in range(2):
        found = worlds.sensors().contact_wrenches()
        for k in range(4):
            context = model.plant.CreateDefaultContext()
            model.plant.SetPositions(context, worlds.q[k])
            model.plant.SetVelocities(context, worlds.v[k])
            record = model.plant.contact_record(context)
            assert len(record) == (0 if k == 2 else 4 * 77)
            expected = model.plant.contact_body_forces(context, record)
            np.testing.assert_allclose(found[k], expected, rtol=1e-9, atol=1e-9)
        assert (found[[0, 1, 3], 1, 5] > 0.0).all() and (found[2] == 0.0).all()
        np.testing.assert_array_equal(np.hstack([worlds.q, worlds.v]), before)
    worlds.step(3)
    assert (worlds.status == 0).all()


def test_contact_forces_are_those_of_each_worlds_parameters(tmp_path):
    (tmp_path / "box.urdf").write_text("""<robot name="box"><link name="box"><inertial><mass value="2"/>
     <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
     <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link></robot>""")
    model = load_model(tmp_path / "box.urdf", contact=True, ground=0.0)
    parameters = {"body.box.mass": [2.0, 5.0, 5.0], "geometry.*.friction": [1.0, 1.0, 0.2]}
    worlds = Worlds(model, 3, parameters=parameters, threads=1)
    worlds.push("box=15,0,0@0,0,-0.1")
    worlds.step(500)
    sensors = worlds.sensors()
    on_ground = sensors.contact_wrenches()[:, 0, 3:]
    np.testing.assert_allclose(on_ground[:, 2], [-2 * 9.81, -5 * 9.81, -5 * 9.81], rtol=1e-3)
    np.testing.assert_allclose(on_ground[:, 0], [15.0, 15.0, 0.2 * 5 * 9.81], rtol=1e-3)
    worlds.set_parameters({"body.box.mass": [5.0, 2.0, 5.0], "geometry.*.friction": [1.0, 1.0, 0.2]})
    worlds.step(500)
    sensors.regroup(worlds.contexts())
    np.testing.assert_allclose(sensors.contact_wrenches()[:2, 0, 5], [-5 * 9.81, -2 * 9.81], rtol=1e-3)
