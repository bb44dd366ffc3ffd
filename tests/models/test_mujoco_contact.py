"""Contact and limits as soft as MuJoCo has them: the law "mujoco" by closed forms, and beside MuJoCo."""

from pathlib import Path

import numpy as np
import pytest
from mbcli.parsers.mjcf.mjcf_softness import resting_depth

from mbcli.models import ModelText, load_model
from mbcli.simulation import simulate

FALLING = """
<mujoco>
  <option {option}/>
  <default>
    <geom solref="0.02 1" solimp="0.5 0.9 0.01" density="500"/>
    <joint solreflimit="0.03 0.8" solimplimit="0.2 0.9 0.05"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.6" {floor}/>
    <body name="trunk" pos="0 0 {height}" euler="20 35 10">
      <freejoint/>
      <geom name="trunk" {trunk}/>
      <body name="arm" pos="0.2 0 0">
        <joint name="hip" axis="0 1 0" range="-20 30"/>
        <geom type="capsule" fromto="0 0 0 0.3 0.05 -0.1" size="0.03"/>
        <body name="end" pos="0.3 0.05 -0.1">
          <joint name="knee" axis="0 1 0" range="-60 -10" ref="-20" margin="{margin}"/>
          <geom type="sphere" pos="0.1 0 0" size="0.05" priority="{priority}" solimp="0.8 0.95 0.002" friction="0.3"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
USUAL = {
    "option": "",
    "floor": "",
    "height": "0.45",
    "trunk": 'type="box" size="0.2 0.1 0.08"',
    "margin": "0",
    "priority": "0",
}
CASES = {
    "a pyramidal cone": {},
    "an elliptic cone": {"option": 'cone="elliptic" impratio="3"'},
    "impratio of a pyramid": {"option": 'impratio="2"'},
    "a capsule, whose axis turns the edges of its pyramid": {"trunk": 'type="capsule" size="0.1 0.2"'},
    "a margin, and that of a limit": {"floor": 'margin="0.01"', "margin": "0.03"},
    "priority, and a stiffness in place of a time constant": {"priority": "1", "floor": 'solref="-9000 -150"'},
    "weights of what is mixed": {"floor": 'solmix="3" solref="0.05 1.2"'},
    "no friction": {"floor": 'condim="1" priority="1"'},
}


STEP = 1e-5  # [s] of accelerations here, which a problem of the step is solved for
SOFT = {"dt": STEP, "contact": True, "contact_approximation": "mujoco"}


def in_order(data, values):
    """Velocities or accelerations of a robot with a free joint, as mbcli has them: in World, rotation first."""
    import mujoco

    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, data.qpos[3:7])
    return np.concatenate([R.reshape(3, 3) @ values[3:6], values[:3], values[6:]])


def errors_of_accelerations(text, settings):
    """Of accelerations at states on the way of the fall in MuJoCo, relative to the largest of the state."""
    import mujoco

    model, loaded = (
        mujoco.MjModel.from_xml_string(text),
        load_model(ModelText(text.encode(), "falling.xml"), **settings),
    )
    model.opt.timestep = 2.5e-4
    data, errors = mujoco.MjData(model), []
    for k in range(2400):
        if k % 80 == 0 and data.nefc:
            here = mujoco.MjData(model)
            here.qpos[:], here.qvel[:] = data.qpos, data.qvel
            mujoco.mj_forward(model, here)
            q = np.concatenate([data.qpos[3:7], data.qpos[:3], data.qpos[7:]])
            v, expected = in_order(here, here.qvel), in_order(here, here.qacc)
            got = (simulate(loaded, STEP, start=(q, v), log_rate=0.0, warn=lambda line: None).v[1] - v) / STEP
            errors.append(np.abs(got - expected).max() / (1.0 + np.abs(expected).max()))
        mujoco.mj_step(model, data)
    return np.array(errors)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("case", CASES)
def test_accelerations_are_those_of_mujoco(case):
    """To rounding, but where a contact is younger than a step, and as the tolerance of a step has a round cone."""
    errors = errors_of_accelerations(FALLING.format(**USUAL | CASES[case]), SOFT)
    assert len(errors) > 10
    round_cone = case == "an elliptic cone"
    assert np.median(errors) < (1e-4 if round_cone else 1e-10)
    assert errors.max() < (0.1 if round_cone else 0.02)


@pytest.mark.peers("mujoco")
def test_another_law_has_other_accelerations():
    """What the test above would say of a law that does not follow the file."""
    errors = errors_of_accelerations(FALLING.format(**USUAL), {"dt": STEP, "contact": True})
    assert np.median(errors) > 0.1


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("robot", ["half_cheetah", "hopper", "walker2d_v5", "ant", "humanoid"])
def test_robots_of_gymnasium_give_way_as_in_mujoco(robot):
    """invweight0 of bodies and velocities, to rounding."""
    import mujoco

    folder = Path(pytest.importorskip("gymnasium").__file__).parent / "envs" / "mujoco" / "assets"
    model = mujoco.MjModel.from_xml_path(str(folder / f"{robot}.xml"))
    ours = load_model(folder / f"{robot}.xml", **SOFT).plant
    names = [model.body(k).name for k in range(1, model.nbody)]
    weights = [ours.mobility.bodies[int(ours.GetBodyByName(name).index())] for name in names if name]
    np.testing.assert_allclose(
        weights, [model.body_invweight0[k, 0] for k in range(1, model.nbody) if model.body(k).name], rtol=1e-9
    )
    limited = [k for k in range(model.njnt) if model.jnt_limited[k]]
    for k in limited:
        joint = ours.GetJointByName(model.joint(k).name)
        got = ours.mobility.velocities[joint.velocity_start()]
        np.testing.assert_allclose(got, model.dof_invweight0[model.jnt_dofadr[k]], rtol=1e-9)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize(("robot", "most"), [("half_cheetah", 3e-4), ("hopper", 6e-4)])
def test_a_fall_of_a_robot_is_that_in_mujoco(robot, most):
    """A second of it, in contact from the start, with steps of 0.5 ms; under the default law it is elsewhere."""
    import mujoco

    folder = Path(pytest.importorskip("gymnasium").__file__).parent / "envs" / "mujoco" / "assets"
    model = mujoco.MjModel.from_xml_path(str(folder / f"{robot}.xml"))
    model.opt.timestep, model.opt.integrator = 5e-4, mujoco.mjtIntegrator.mjINT_EULER
    data, rng, rows = mujoco.MjData(model), np.random.default_rng(0), []
    data.qpos += rng.uniform(-0.1, 0.1, model.nq)
    data.qvel += 0.3 * rng.normal(size=model.nv)
    start = data.qpos.copy(), data.qvel.copy()
    for k in range(2001):
        if k % 20 == 0:
            rows.append(data.qpos.copy())
        mujoco.mj_step(model, data)
    runs = {}
    for law in ("mujoco", "lagged"):
        loaded = load_model(folder / f"{robot}.xml", dt=5e-4, contact=True, contact_approximation=law)
        runs[law] = simulate(loaded, 1.0, start=start, log_rate=100.0, warn=lambda line: None).q
    assert np.abs(runs["mujoco"] - rows).max() < most
    assert np.abs(runs["lagged"] - rows).max() > 10.0 * most


RESTING = """
<mujoco>
  <default><geom solref="{}" solimp="{}" condim="1"/></default>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body pos="0 0 0.1"><freejoint/><geom size="0.1" mass="{}"/></body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("mass", [0.01, 20.0])
@pytest.mark.parametrize(
    ("solref", "solimp"), [((0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)), ((0.05, 0.8), (0.2, 0.7, 0.03, 0.3, 3.0))]
)
def test_what_lies_sinks_to_the_depth_of_its_softness_whatever_its_mass(solref, solimp, mass):
    """d^2 k r = (1 - d) g at rest, with the k of `solref` and the last impedance."""
    words = (" ".join(map(str, numbers)) for numbers in (solref, solimp))
    model = ModelText(RESTING.format(*words, mass).encode(), "resting.xml")
    loaded = load_model(model, dt=1e-3, contact=True, contact_approximation="mujoco")
    depth = 0.1 - simulate(loaded, 3.0, log_rate=10.0).q[-1, 6]
    assert depth == pytest.approx(resting_depth(solref, solimp), rel=1e-6)
