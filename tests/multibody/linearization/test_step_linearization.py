"""The linearization of a discrete plant is that of the step that `simulate()` takes: f to the last bit, A and B its
differences, over actors, situations, contact approximations and schemes."""

import os
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from test_deformable_steps import Scene as DeformableScene

from mbcli.engine.contact import arrays
from mbcli.engine.fields.contact_fields import COUNT_CONSTRAINTS
from mbcli.errors import ModelError, NumericalError
from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.multibody.linearization import motion_derivatives
from mbcli.multibody.linearization.motion_derivatives import plant_derivatives
from mbcli.multibody.stepping.inputs import constant_input
from mbcli.multibody.stepping.run import Run
from mbcli.simulation import simulate
from mbcli.simulation.controllers import hold_default_positions

LAWS = ("lagged", "similar", "sap", "tamsi")
SCHEMES = ("midpoint", "drake")
EVERYTHING = bool(os.environ.get("MBCLI_LINEARIZATIONS"))
DT = 1e-3
ARM = """<mujoco><option timestep="0.001"/><worldbody><site name="wall" pos="0 0 1"/>{floor}
<body><joint name="a" axis="0 1 0" {of_a} {a}/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/>
<body pos=".4 0 0"><joint name="b" axis="0 1 0" {of_b} {b}/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/><site name="end" pos=".3 0 0"/></body></body>
</worldbody><tendon><fixed name="both"><joint joint="a" coef="2"/><joint joint="b" coef="-.5"/></fixed>
<spatial name="rope" {rope}><site site="wall"/><site site="end"/></spatial></tendon>
<actuator>{actuators}</actuator>{more}</mujoco>"""
MOTOR = '<motor name="m" joint="a"/>'
SERVO = '<position name="m" joint="a" kp="100" kv="3" {}/><motor name="n" joint="b"/>'
ACTORS = {
    "motor": {"actuators": MOTOR},
    "damped and sprung": {"actuators": MOTOR, "a": 'damping="0.5"', "b": 'stiffness="40" damping="0.1"'},
    "rubbing": {"actuators": MOTOR, "a": 'frictionloss="0.3"', "b": 'frictionloss="0.1"'},
    "servo": {"actuators": SERVO.format("")},
    "servo at its limit": {"actuators": SERVO.format('forcerange="-1 1"')},
    "motor on a tendon": {"actuators": '<motor name="m" tendon="rope" gear="3"/>'},
    "servo on a tendon": {"actuators": '<position name="m" tendon="both" kp="200" kv="5"/>'},
    "filtered motor": {"actuators": '<general name="m" tendon="rope" dyntype="filter" dynprm=".05" gainprm="20"/>'},
    "taut rope": {"actuators": MOTOR, "rope": 'stiffness="3000" damping="80" springlength="0.9"'},
    "all at once": {
        "actuators": SERVO.format("") + '<position name="t" tendon="both" kp="200" kv="5"/>',
        "a": 'damping="0.5" frictionloss="0.3"',
        "rope": 'stiffness="3000" damping="80" springlength="0.9"',
    },
    "closed loop": {
        "actuators": MOTOR,
        "a": 'frictionloss="0.1"',
        "more": '<equality><joint joint1="b" joint2="a" polycoef="0 2"/></equality>',
    },
}
FLOOR = '<geom type="plane" size="5 5 1" pos="0 0 {}" friction="0.6 0 0"/>'
LIMITS = {"of_a": 'range="-10 10"', "of_b": 'range="-20 20"'}  # 0.1745 and 0.3491 rad
SITUATIONS = {  # of the file, q, v; b turns twice as much as a
    "alone": ({}, (0.3, 0.6), (1.0, 2.0)),
    "in the air": ({"floor": FLOOR.format(-3)}, (0.3, 0.6), (1.0, 2.0)),
    "in contact": ({"floor": FLOOR.format(-0.029)}, (0.001, 0.002), (0.1, 0.2)),
    "at limits": (LIMITS, (0.17435, 0.3487), (0.35, 0.7)),
    "at limits in the air": (LIMITS | {"floor": FLOOR.format(-3)}, (0.17435, 0.3487), (0.35, 0.7)),
    "beyond limits": (LIMITS, (0.1746, 0.3492), (-0.1, -0.2)),
    "beyond limits in contact": (LIMITS | {"floor": FLOOR.format(-0.213)}, (0.1746, 0.3492), (-0.1, -0.2)),
}
# whose steps take neither controllers nor that loop, and jump where they are solved in other parts
WITHOUT_TAMSI = {"servo", "servo at its limit", "all at once", "closed loop", "beyond limits in contact"}
NET = [
    (actor, situation, law, scheme)
    for (k, actor), (j, situation), (i, law), scheme in product(
        enumerate(ACTORS), enumerate(SITUATIONS), enumerate(LAWS), SCHEMES
    )
    if (EVERYTHING or (i + j + k) % len(LAWS) == 0) and not (law == "tamsi" and WITHOUT_TAMSI & {actor, situation})
]


def arm(**given):
    empty = dict.fromkeys(("floor", "of_a", "of_b", "a", "b", "rope", "actuators", "more"), "")
    return ModelText(ARM.format(**empty | given).encode(), "arm.xml")


class Case:
    """A model at a state with an input, and the step of simulate() from there."""

    def __init__(self, model, q, v, u=None, law="lagged", scheme="midpoint", **loading):
        settings = {"plant_config.discrete_contact_approximation": law, "plant_config.step_scheme": scheme}
        given = {"contact": True, "dt": DT} | loading
        self.plant = load_model(model, overrides=settings, **given).plant
        u = np.linspace(0.3, -0.2, self.plant.num_actuators()) if u is None else u
        self.start = SimpleNamespace(q=np.array(q, dtype=float), v=np.array(v, dtype=float), u=np.array(u, dtype=float))
        self.context = self.plant.CreateDefaultContext()
        self.plant.SetPositions(self.context, self.start.q)
        self.plant.SetVelocities(self.context, self.start.v)
        hold_default_positions(self.plant, self.context)
        self.plant.get_actuation_input_port().FixValue(self.context, self.start.u)

    def simulated(self):
        """[q; v] at the end of the first step of simulate()."""
        at, quiet = self.start, {"warn": lambda message: None, "effort_limits": "ignore"}
        efforts = constant_input(at.u)
        log = simulate(self.plant, DT, start=(at.q, at.v), inputs=efforts, log_rate=0.0, fields="", **quiet)
        return np.concatenate([log.q[-1], log.v[-1]])

    def step(self, **changed):
        """[q; v] after a step of a run from a state and input in which something is changed."""
        at, other = SimpleNamespace(**vars(self.start) | changed), self.context.Clone()
        self.plant.SetPositions(other, at.q)
        self.plant.SetVelocities(other, at.v)
        for _ in Run(self.plant, other, DT, actuation=constant_input(at.u)).blocks():
            pass
        return self.plant.GetPositionsAndVelocities(other)

    def derivatives(self):
        A, B, _, _, f, _, _ = plant_derivatives(self.plant, self.context, "actuation", "state", True)
        nq = self.start.q.size
        return f, {"q": A[:, :nq], "v": A[:, nq:], "u": B}

    def difference(self, name, direction, size):
        """The derivative along a direction, of fourth order."""
        value = getattr(self.start, name)

        def at(k):
            return self.step(**{name: value + k * size * direction})

        return (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * size)


SIZES = {"q": 1e-6, "v": 1e-6, "u": 1e-4}
ROUNDING = {"q": 1e-7, "v": 1e-8, "u": 1e-9}


def assert_linearized(case, monkeypatch, tolerance=1e-5):
    f, by = case.derivatives()
    np.testing.assert_array_equal(f, case.simulated())
    rng = np.random.default_rng(3)
    with monkeypatch.context() as exactly:
        exactly.setattr(arrays, "DEFAULT_TOLERANCE", 1e-12)
        for name, J in by.items():
            direction, size = rng.normal(size=J.shape[1]), SIZES[name]
            allowed = tolerance * np.abs(J * direction).max() + ROUNDING[name]
            found = case.difference(name, direction, size)
            np.testing.assert_allclose(J @ direction, found, rtol=0.0, atol=allowed, err_msg=name)


@pytest.mark.parametrize(("actor", "situation", "law", "scheme"), NET)
def test_the_step_is_that_of_simulate(actor, situation, law, scheme, monkeypatch):
    given, q, v = SITUATIONS[situation]
    if actor == "closed loop":  # in which two limits would switch together
        given = {name: text for name, text in given.items() if name != "of_b"}
    u = [30.0, 0.1] if actor == "servo at its limit" else None
    assert_linearized(Case(arm(**ACTORS[actor] | given), q, v, u, law, scheme), monkeypatch)


LINKS = """<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="base"/>
<link name="l1"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="l2"><inertial><origin xyz="0.1 0 0"/><mass value="0.5"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0.2 0 0"/><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/><axis xyz="0 1 0"/></joint>
<joint name="j2" type="continuous"><parent link="l1"/><child link="l2"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0.3"/>
<limit effort="2" velocity="9"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="j2">
<hardwareInterface>effort</hardwareInterface></joint><actuator name="m"/></transmission>{element}</robot>"""
STRUT = """<drake:linear_spring_damper><drake:linear_spring_damper_body_A name="base"/>
<drake:linear_spring_damper_p_AP value="0.2 0 0.5"/><drake:linear_spring_damper_body_B name="l2"/>
<drake:linear_spring_damper_p_BQ value="0.1 0 0"/><drake:linear_spring_damper_free_length value="0.3"/>
<drake:linear_spring_damper_stiffness value="2000"/><drake:linear_spring_damper_damping value="60"/>
</drake:linear_spring_damper>"""
BUSHING = """<frame name="f" link="base" xyz="0.4 0 0.1" rpy="0 0 0"/>
<frame name="g" link="l2" xyz="0.1 0 0" rpy="0 0 0"/>
<drake:linear_bushing_rpy><drake:bushing_frameA name="f"/><drake:bushing_frameC name="g"/>
<drake:bushing_torque_stiffness value="40 50 60"/><drake:bushing_torque_damping value="2 3 4"/>
<drake:bushing_force_stiffness value="3000 2000 1000"/><drake:bushing_force_damping value="30 20 10"/>
</drake:linear_bushing_rpy>"""


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("law", ["lagged", "tamsi"])
@pytest.mark.parametrize("ground", [-2.0, -0.125], ids=["in the air", "in contact"])
@pytest.mark.parametrize("element", [STRUT, BUSHING], ids=["strut", "bushing"])
def test_struts_and_bushings_are_those_of_the_step(element, ground, law, scheme, monkeypatch):
    model = ModelText(LINKS.format(element=element).encode(), "r.urdf")
    case = Case(model, (0.1, 0.1), (0.3, -0.5), (0.5,), law, scheme, ground=ground, weld_base=True)
    assert touches(case) == (ground > -1.0)
    assert_linearized(case, monkeypatch)


def touches(case):
    return plant_contacts(case.plant, case.context) > 0


def plant_contacts(plant, context):
    other = context.Clone()
    run = Run(plant, other, DT)
    for _ in run.blocks():
        pass
    return run.contact.solver.counts[COUNT_CONSTRAINTS]


FREE = """<mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="5 5 1" friction="0.5 0 0"/>
<body pos="0 0 0.1"><freejoint name="root"/><geom type="box" size=".2 .15 .1" mass="2" friction="0.5 0 0"/>
<body pos="0.2 0 0.1"><joint name="h" axis="0 1 0" damping="0.1"/>
<geom type="capsule" fromto="0 0 0.05 0 0 .3" size=".02" mass=".5"/></body></body></worldbody>
<actuator><motor name="m" joint="h"/></actuator></mujoco>"""


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("height", [0.0985, 0.5], ids=["in contact", "in the air"])
def test_a_free_base_with_a_quaternion_is_that_of_the_step(height, law, monkeypatch):
    case = Case(ModelText(FREE.encode(), "f.xml"), np.zeros(8), np.zeros(7), (0.1,), law)
    tilt = np.array([1.0, 0.002, -0.003, 0.1])
    case.start.q = np.array([*(tilt / np.linalg.norm(tilt)), 0.0, 0.0, height, 0.2])
    case.start.v = np.array([0.1, -0.2, 0.3, 0.5, -0.3, -0.02, 0.4])
    case.plant.SetPositions(case.context, case.start.q)
    case.plant.SetVelocities(case.context, case.start.v)
    assert touches(case) == (height < 0.4)
    assert_linearized(case, monkeypatch)


@pytest.mark.parametrize("actor", ["rubbing", "servo", "servo on a tendon", "taut rope", "all at once"])
@pytest.mark.parametrize("situation", ["in the air", "in contact"])
def test_solved_problems_and_steps_without_are_not_left_to_differences(actor, situation, monkeypatch):
    given, q, v = SITUATIONS[situation]
    case = Case(arm(**ACTORS[actor] | given), q, v)
    monkeypatch.setattr(motion_derivatives, "motion_by_differences", None)
    case.derivatives()


@pytest.mark.parametrize("situation", ["in the air", "in contact", "at limits in the air"])
def test_other_ports_are_of_that_step_too(situation):
    """The accelerations of the step, and the aims of controllers, which act through their gains."""
    given, q, v = SITUATIONS[situation]
    plant = load_model(
        arm(actuators='<position name="m" joint="a" kp="100" kv="3"/>', **given),
        contact=True,
        dt=DT,
        overrides={"plant_config.use_sampled_output_ports": "false"},
    ).plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    hold_default_positions(plant, context)
    instance = plant.elements.instance_names[2]
    A, B, C, D, f, y, _ = plant_derivatives(plant, context, "actuation", "mujoco_generalized_acceleration", True)
    np.testing.assert_allclose(C, (A[2:] - np.eye(2, 4, 2)) / DT, atol=1e-6)
    np.testing.assert_allclose(D, B[2:] / DT, atol=1e-9)
    np.testing.assert_allclose(y, (f[2:] - v) / DT, atol=1e-5)
    by_aims = plant_derivatives(plant, context, f"{instance}_desired_state", "state", True)[1]
    np.testing.assert_allclose(by_aims, np.outer(B[:, 0], [100.0, 3.0]), rtol=1e-5, atol=1e-9)


# states at which a step has no derivatives

SLIDER = """<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody>{floor}<body pos="0 0 0.1">
<joint name="z" type="slide" axis="0 0 1" {joint}/><geom type="sphere" size="0.1" mass="2" {geom}/></body></worldbody>
<actuator>{actuator}</actuator></mujoco>"""
PLAIN = {"floor": "", "joint": "", "geom": 'contype="0" conaffinity="0"', "actuator": '<motor name="m" joint="z"/>'}
TOUCHING = {"floor": FLOOR.format(0), "geom": ""}
# the position at the end of the step counts, or by the share beta of a spring (smooth/middle.py) that about the middle
AT_BOUND = {"drake": -0.05 - 2.5e-6, "midpoint": -0.05 - 2.5e-6 * (0.25 - 1.0 / (6.0 + 5e-5))}
SWITCHES = {  # of the file, q, v, u, and what has no derivative
    "friction that is just enough": ({"joint": 'frictionloss="3"'}, 0.0, 0.0, 3.0, "mujoco_z_v"),
    "a contact that begins": (TOUCHING, 0.0, 0.0, 0.0, "positions along mujoco_z_v"),
    "a stop that is met": ({"joint": 'range="-1 0.5"'}, 0.5, 0.0, 0.0, "mujoco_z_v"),
    "an effort limit that is met": (
        {"actuator": '<position name="m" joint="z" kp="100" kv="0" forcerange="-5 5"/>'},
        AT_BOUND,
        0.0,
        0.0,
        "positions along mujoco_z_v",
    ),
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("switch", SWITCHES)
def test_where_a_step_switches_there_is_no_derivative_and_it_says_by_what(switch, scheme):
    given, q, v, u, by = SWITCHES[switch]
    q = q[scheme] if q is AT_BOUND else q
    case = Case(ModelText(SLIDER.format(**PLAIN | given).encode(), "s.xml"), [q], [v], [u], scheme=scheme)
    with pytest.raises(NumericalError, match=f"so near to the state that the step has no derivative by .*{by}"):
        case.derivatives()


@pytest.mark.parametrize("switch", SWITCHES)
def test_beside_a_switch_there_are_derivatives(switch, monkeypatch):
    given, q, v, u, _ = SWITCHES[switch]
    q = q["midpoint"] if q is AT_BOUND else q
    case = Case(ModelText(SLIDER.format(**PLAIN | given).encode(), "s.xml"), [q - 2e-5], [v], [u - 0.1])
    assert_linearized(case, monkeypatch)


def test_a_step_that_tamsi_solves_in_other_parts_nearby_has_no_derivative_and_says_so():
    given, q, v = SITUATIONS["beyond limits in contact"]
    case = Case(arm(**ACTORS["damped and sprung"] | given), q, v, law="tamsi")
    with pytest.raises(NumericalError, match="the solver switches, so near to the state"):
        case.derivatives()


def test_deformable_bodies_that_can_touch_have_no_derivatives_and_say_so(tmp_path):
    scene = DeformableScene(tmp_path)
    scene.box([0, 0, 0.099], cells=1)
    scene.start()
    with pytest.raises(ModelError, match="deformable bodies can touch has no derivatives"):
        plant_derivatives(scene.plant, scene.context, None, "state", True)
