"""Every stage of the engine on real and complex numbers, interpreted and compiled, and what it reads and writes."""

import functools
import sys
from dataclasses import dataclass, field

import engine_queries as queries
import numpy as np
import pytest
from constraint_scenes import constrained_scene, run_every_kernel
from engine_structs import struct_of
from kernel_kinds import NOT_SMOOTH, NOT_SMOOTH_PACKAGES
from random_trees import random_plant, random_state
from real_robots import LIMIT_CASES, at_limits
from test_bounded_rows import limited_plant
from test_cut_joints import test_derivatives_of_forces_of_cut_joints_are_those_of_differences
from test_dynamics_derivatives import run_derivative_kernels

from mbcli.engine import load_kernels
from mbcli.engine.constraints.constrained_motion import constraint_addresses
from mbcli.engine.fields.model_fields import DATA_FIELDS, MODEL_FIELDS
from mbcli.engine.runtime import kernel
from mbcli.engine.runtime.linking import all_kernels
from mbcli.engine.runtime.model import Data
from mbcli.engine.stepping.integrators import METHODS, Integration
from mbcli.models import load_model

COMPLEX_STEP = 1e-30
# Differences of fourth order with step 1e-4, of accelerations up to 1e3: rounding 1e-13 relative over the step.
DIFFERENCES = 1e-8

NO_MARK = -7  # of integers, where real numbers are NaN
# Compiled and interpreted differ by fused multiply-adds.
ROUNDING = 1e-12

PER_BODY = {f.name for f in DATA_FIELDS if f.shape[0] == "nbody"}
# rows that only joints without one axis have
WITHOUT_ONE_AXIS = {"X_FM", "p_RoMo"}
INPUTS = ("q", "v", "vdot", "tau", "qdot", "F_applied", "diagonal", "u", "pd_desired", "pd_carried")

PLANTS = {
    "mixed": {"seed": 3, "elements": True},
    "reversed": {"seed": 3, "reversed_probability": 1.0, "elements": True},
    "weightless": {"seed": 3, "weightless": True, "trees": 2, "floating_bases": 1, "elements": True},
    "stopped": {"seed": 6, "stopped": True, "elements": True},
    "controlled": {"seed": 4, "controlled": True, "time_step": 0.01, "num_bodies": 16, "elements": True},
    "discrete": {"seed": 5, "time_step": 0.01, "num_bodies": 16, "floating_bases": 1, "elements": True},
}


@dataclass(frozen=True)
class Stage:
    """How a kernel is run, the stages before it, and the fields of Data that it reads as inputs and writes.

    Of the first field that it writes, so many rows; all where this is 0. What it may write, by what it meets, it never
    reads before.
    """

    run: object
    writes: str
    reads: str = ""
    after: tuple = ()
    takes_handles: bool = True
    returns: bool = field(default=False)
    rows: int = 0
    may_write: str = ""


def named(name, *arguments):
    return lambda kernels, model, data: getattr(kernels, name)(model, data, *arguments)


def under_forces(name, *arguments):
    """A stage under forces on links."""

    def run(kernels, model, data):
        getattr(kernels, name)(model, data, queries.forces_on_links(model, data), *arguments)

    return run


def force_elements(kernels, model, data):
    F, tau = (np.zeros(shape, queries.scalar_type(data)) for shape in ((queries.NUM_BODIES, 6), queries.COLUMNS))
    kernels.calc_force_elements(model, data, 1.0, 1.0, 1.0, F, tau)
    return np.concatenate([F.ravel(), tau])


def answering(table, after):
    return {name: Stage(run, fields, "", after, rows=n) for name, (fields, n, run) in table.items()}


POSITION = "sin_q cos_q curve_segment curve_angle X_FM X_WB p_RoBo p_RoMo S inertia"
VELOCITY = "V A_bias"
ARTICULATED = "articulated F_articulated U D tau_residual A vdot"
CONTROL = "pd_effort bounded_row row_side"
AT_LIMITS = "composite vdot_point row_residual"
AT_START = "q_at_start v_at_start v_terms"
ELEMENTS = "element_row element_J element_y element_system"
AT_POSITION, AT_VELOCITY = ("position_stage",), ("position_stage", "velocity_stage")

STAGES = {
    "position_stage": Stage(named("position_stage"), POSITION, "q"),
    "velocity_stage": Stage(named("velocity_stage"), VELOCITY, "v", AT_POSITION),
    "motion_stage": Stage(named("motion_stage"), f"{POSITION} {VELOCITY}", "q v"),
    "links_stage": Stage(named("links_stage"), "X_WL V_WL", "", AT_VELOCITY),
    "calc_mass_matrix": Stage(named("calc_mass_matrix"), "composite M", "", AT_POSITION),
    "calc_inverse_dynamics": Stage(
        under_forces("calc_inverse_dynamics", 1.0), "F_applied A F tau", "vdot", AT_VELOCITY
    ),
    "calc_inverse_dynamics without gravity": Stage(
        under_forces("calc_inverse_dynamics", 0.0), "F_applied A F tau", "vdot", AT_VELOCITY
    ),
    "calc_bias_term": Stage(named("calc_bias_term"), "vdot F_applied A F tau", "", AT_VELOCITY),
    "calc_gravity": Stage(named("calc_gravity"), "F tau", "", AT_POSITION),
    "calc_actuation": Stage(named("calc_actuation"), "tau", "u"),
    "calc_forward_dynamics": Stage(
        under_forces("calc_forward_dynamics"), f"tau diagonal F_applied {ARTICULATED}", "q v tau", AT_VELOCITY
    ),
    "calc_accelerations": Stage(
        named("calc_accelerations"), f"tau diagonal F_applied {ARTICULATED}", "q v u", AT_VELOCITY
    ),
    "calc_step_dynamics": Stage(
        under_forces("calc_step_dynamics", 0.01, 1.0),
        f"tau diagonal F_applied {ARTICULATED} {CONTROL} {AT_START}",
        "q v tau u pd_desired pd_carried",
        AT_VELOCITY,
        may_write=f"{AT_LIMITS} {POSITION} {VELOCITY} {ELEMENTS} qdot",
    ),
    "calc_nonconservative_power": Stage(named("calc_nonconservative_power"), "", "q v", AT_VELOCITY, returns=True),
    "calc_force_elements": Stage(force_elements, "tau", "q v", AT_VELOCITY, returns=True),
    "calc_spring_damper": Stage(named("calc_spring_damper", 1), "", "", AT_VELOCITY, returns=True),
    "calc_bushing": Stage(named("calc_bushing", 0), "", "", AT_VELOCITY, returns=True),
    "start_of_step": Stage(named("start_of_step", 0.01), f"v {AT_START}", "q v", may_write="q qdot sin_q cos_q"),
    "step_under_link_forces": Stage(
        under_forces("step_under_link_forces", 0.01, 0.0),
        f"{POSITION} {VELOCITY} {ARTICULATED} {CONTROL} diagonal tau q v qdot F_applied",
        "q v tau u pd_desired pd_carried X_WB p_RoBo",
        ("start_of_step", *AT_POSITION),
        may_write=f"{AT_LIMITS} {ELEMENTS} v_terms",
    ),
    "calc_energy": Stage(named("calc_energy"), "energy", "q v", AT_VELOCITY, returns=True),
    "calc_generalized_forces": Stage(under_forces("calc_generalized_forces"), "F_applied F tau", "", AT_POSITION),
    "calc_mass_matrix_by_inverse_dynamics": Stage(
        named("calc_mass_matrix_by_inverse_dynamics"), "vdot V A_bias F_applied A F tau M", "", AT_POSITION
    ),
    "calc_qdot": Stage(named("calc_qdot"), "qdot", "q v", AT_POSITION),
    "full_mass_matrix": Stage(named("full_mass_matrix"), f"{POSITION} composite M", "q"),
    "full_inverse_dynamics": Stage(
        named("full_inverse_dynamics"), f"{POSITION} {VELOCITY} F_applied A F tau", "q v vdot"
    ),
    "full_forward_dynamics": Stage(
        named("full_forward_dynamics"), f"{POSITION} {VELOCITY} F_applied {ARTICULATED}", "q v tau diagonal"
    ),
    **{name: Stage(run, "", "", AT_POSITION, returns=True) for name, run in queries.AT_POSITION.items()},
    **{name: Stage(run, "", "", AT_VELOCITY, returns=True) for name, run in queries.AT_VELOCITY.items()},
    "query_jacobian_by_qdot": Stage(queries.by_qdot, "", "q", AT_POSITION, returns=True),
    **answering(queries.ANSWERS_AT_POSITION, AT_POSITION),
    **answering(queries.ANSWERS_AT_VELOCITY, AT_VELOCITY),
    "add_damping": Stage(queries.add_damping, "", "v", returns=True),
    "query_link_poses": Stage(queries.link_poses, "X_WL", "", AT_POSITION, returns=True),
    "query_link_accelerations": Stage(queries.link_accelerations, "A", "vdot", AT_VELOCITY, returns=True),
    "query_qdot": Stage(queries.qdot, "sin_q cos_q qdot", "q"),
    "query_velocity_from_qdot": Stage(queries.velocity_from_qdot, "sin_q cos_q", "q", returns=True),
    "query_qdot_map": Stage(queries.qdot_map, "sin_q cos_q vdot", "q", returns=True),
    "query_velocity_map": Stage(queries.velocity_map, "sin_q cos_q qdot", "q", returns=True),
    "query_reactions": Stage(queries.reactions, "A", "vdot", AT_VELOCITY, returns=True),
    "discrete_step": Stage(
        named("discrete_step", 0.01, 1.0),
        f"{POSITION} {VELOCITY} {ARTICULATED} {CONTROL} {AT_START} diagonal tau q v qdot F_applied",
        "q v tau u pd_desired pd_carried F_applied",
        takes_handles=False,
        may_write=f"{AT_LIMITS} {ELEMENTS}",
    ),
}


@functools.cache
def plant_of(name):
    return random_plant(**PLANTS[name])


@functools.cache
def inputs_of(name):
    """A value for each input by name."""
    plant, rng = plant_of(name), np.random.default_rng(PLANTS[name]["seed"])
    q, v = random_state(plant, rng)
    shapes = {n: getattr(Data(plant.model.sizes), n).shape for n in INPUTS}
    values = {n: rng.normal(size=shapes[n]) for n in INPUTS}
    return values | {"q": q, "v": v, "diagonal": rng.uniform(0.1, 1.0, v.size)}


def data_with(model, inputs):
    data = Data(model.sizes, model.dtype)
    for name, value in inputs.items():
        getattr(data, name)[...] = value
    return data


def handles(stage, model, data, compiled):
    if compiled and not stage.takes_handles:
        return struct_of(model), struct_of(data)
    return model.handle(compiled), data.handle(compiled)


def run(name, model, data, *, compiled=False, only=False):
    """Runs a stage, after those that it needs unless `only`; returns what it returns."""
    stage, kernels = STAGES[name], load_kernels(compiled)
    if not only:
        for needed in stage.after:
            STAGES[needed].run(kernels, *handles(STAGES[needed], model, data, compiled))
    return stage.run(kernels, *handles(stage, model, data, compiled))


def results(name, model, inputs, *, compiled=False):
    """All that a stage writes, by field, and what it returns."""
    data = data_with(model, inputs)
    returned = run(name, model, data, compiled=compiled)
    values = {n: getattr(data, n) for n in STAGES[name].writes.split()}
    return values | ({"returned": np.array(returned)} if STAGES[name].returns else {})


def assert_fields_close(values, expected, tolerance):
    """Each field equal up to `tolerance` of its largest element (of one, where all are smaller)."""
    assert values.keys() == expected.keys()
    for name, value in values.items():
        scale = max(1.0, abs(expected[name]).max(initial=0.0))
        assert np.isfinite(value).all(), name
        assert abs(value - expected[name]).max(initial=0.0) <= tolerance * scale, name


def differences(function, step=1e-4):
    """Derivative at 0, by field, of a function that gives fields, by central differences of fourth order."""
    f = [function(k * step) for k in (-2, -1, 1, 2)]
    return {n: (f[0][n] - 8.0 * f[1][n] + 8.0 * f[2][n] - f[3][n]) / (12.0 * step) for n in f[0]}


def imaginary(fields):
    return {n: value.imag / COMPLEX_STEP for n, value in fields.items()}


def real_parameters(model):
    return {f.name: getattr(model, f.name) for f in MODEL_FIELDS if f.kind == "real"}


def moved(values, direction, t):
    return {n: value + t * direction[n] for n, value in values.items()}


stages = pytest.mark.parametrize("stage", STAGES)
plants = pytest.mark.parametrize("plant", PLANTS)


# scalar types


@plants
@stages
def test_complex_steps_along_all_inputs_are_the_derivatives(stage, plant):
    model, inputs = plant_of(plant).model, inputs_of(plant)
    rng = np.random.default_rng(5)
    direction = {n: rng.normal(size=value.shape) for n, value in inputs.items()}
    derivative = imaginary(results(stage, model.replace(dtype=complex), moved(inputs, direction, 1j * COMPLEX_STEP)))
    expected = differences(lambda t: results(stage, model, moved(inputs, direction, t)))
    assert_fields_close(derivative, expected, DIFFERENCES)
    assert any(abs(value).max() > 1e-3 for value in derivative.values())


@plants
@stages
def test_complex_steps_along_all_real_parameters_are_the_derivatives(stage, plant):
    """Frames, inertias, gravity, damping, springs, rotors: a derivative by any of them is one complex step away."""
    model, inputs = plant_of(plant).model, inputs_of(plant)
    rng = np.random.default_rng(6)
    parameters = real_parameters(model)
    direction = {n: 0.1 * rng.normal(size=value.shape) for n, value in parameters.items()}
    complex_model = model.replace(dtype=complex, **moved(parameters, direction, 1j * COMPLEX_STEP))
    derivative = imaginary(results(stage, complex_model, inputs))
    expected = differences(lambda t: results(stage, model.replace(**moved(parameters, direction, t)), inputs))
    assert_fields_close(derivative, expected, DIFFERENCES)


def test_the_derivative_of_forces_by_a_mass_is_what_the_unit_mass_needs():
    """tau is linear in a mass: its derivative is tau with one kilogram more, minus tau."""
    model, inputs = plant_of("mixed").model, inputs_of("mixed")
    more, complex_more = model.body_inertia.copy(), model.body_inertia.astype(complex)
    more[4, 0] += 1.0
    complex_more[4, 0] += 1j * COMPLEX_STEP
    complex_model = model.replace(dtype=complex, body_inertia=complex_more)
    derivative = results("calc_inverse_dynamics", complex_model, inputs)["tau"].imag / COMPLEX_STEP
    taus = [results("calc_inverse_dynamics", m, inputs)["tau"] for m in (model.replace(body_inertia=more), model)]
    assert abs(derivative).max() > 0.1
    np.testing.assert_allclose(derivative, taus[0] - taus[1], rtol=0.0, atol=1e-12 * abs(taus[1]).max())


@pytest.mark.parametrize("name", [*(n for n in METHODS if not METHODS[n].implicit), "semi_explicit_euler"])
def test_complex_steps_pass_through_whole_integration_steps(name):
    plant, kernels = plant_of("mixed"), load_kernels(False)
    inputs, rng = inputs_of("mixed"), np.random.default_rng(8)
    y, u = np.concatenate([inputs["q"], inputs["v"]]), rng.normal(size=plant.num_actuators())
    dy, du = rng.normal(size=y.size), rng.normal(size=u.size)

    def end(t):
        model = plant.model.replace(dtype=np.result_type(t, float))
        data = Data(model.sizes, model.dtype)
        method = METHODS.get(name, METHODS["explicit_euler"])
        run = Integration(method, y + t * dy, 0.0, 0.01)
        step = kernels.semi_explicit_step if name == "semi_explicit_euler" else kernels.explicit_step
        step(model, data, run, u + t * du, 0.01)
        kernels.rate_at_end(model, data, 0.01, run, u + t * du)
        kernels.join_ends(run, 0.01)
        kernels.evaluate_dense(run, 0.4)
        return {"end": run.y_end, "between": run.y_stage}

    assert_fields_close(imaginary(end(1j * COMPLEX_STEP)), differences(end), DIFFERENCES)


def test_complex_steps_pass_through_normalization_of_quaternions():
    model, inputs = plant_of("mixed").model, inputs_of("mixed")
    dq = np.random.default_rng(9).normal(size=inputs["q"].size)

    def normalized(t):
        q = inputs["q"] * 1.2 + t * dq
        load_kernels(False).normalize_quaternions(model, q)
        return {"q": q}

    assert_fields_close(imaginary(normalized(1j * COMPLEX_STEP)), differences(normalized), DIFFERENCES)


@pytest.mark.parametrize("largest", [1.0, 1e12])
def test_complex_steps_pass_through_sine_and_cosine(largest):
    x = np.random.default_rng(4).uniform(-largest, largest, 50)
    sine, cosine = sine_and_cosine(x + 1j * COMPLEX_STEP)
    assert abs(sine.imag / COMPLEX_STEP - np.cos(x)).max() < 1e-15
    assert abs(cosine.imag / COMPLEX_STEP + np.sin(x)).max() < 1e-15


def test_complex_steps_pass_through_the_power_of_damping():
    plant = plant_of(next(iter(PLANTS)))
    model, data = plant.model, Data(plant.model.sizes, complex)
    velocity = np.random.default_rng(5).normal(size=data.v.size)
    for d in range(data.v.size):
        data.v[:] = velocity
        data.v[d] += 1j * COMPLEX_STEP
        power = load_kernels(False).damping_power(model, data)
        slope = 2.0 * model.dof_damping[d] * velocity[d]
        assert power.imag / COMPLEX_STEP == pytest.approx(-slope, rel=1e-14)
        assert power.real == pytest.approx(-model.dof_damping @ velocity**2, rel=1e-14)


@plants
def test_complex_steps_pass_through_the_path_to_a_body(plant):
    model, kernels = plant_of(plant).model.replace(dtype=complex), load_kernels(False)
    q = inputs_of(plant)["q"] + 1j * COMPLEX_STEP * np.random.default_rng(6).normal(size=model.sizes["nq"])
    whole = Data(model.sizes, complex)
    whole.q[:] = q
    kernels.position_kinematics(model, whole)
    for b in range(model.sizes["nbody"]):
        data, path = Data(model.sizes, complex), [b]
        while path[-1]:
            path.append(model.body_parent[path[-1]])
        data.q[:], data.X_WB[1:] = q, np.nan
        kernels.path_kinematics(model, data, b)
        np.testing.assert_array_equal(data.X_WB[path], whole.X_WB[path])
        assert np.isnan(np.delete(data.X_WB, [0, *path], axis=0)).all()  # no other body is computed


def test_complex_steps_pass_through_the_moment_of_a_push():
    model, kernels, random = plant_of("mixed").model, load_kernels(False), np.random.default_rng(8)
    links, points = np.array([model.sizes["nlink"] - 1]), random.normal(size=(1, 3))
    forces, along = random.normal(size=(1, 6)), random.normal(size=model.sizes["nq"])

    def moment(step, dtype):
        data = Data(model.sizes, dtype)
        data.q[:] = inputs_of("mixed")["q"] + step * along
        kernels.position_kinematics(model.replace(dtype=dtype), data)
        return np.array(kernels.push_about_root(model.replace(dtype=dtype), data, links, points, forces, 0, 0.5)[0])

    h = 1e-4
    ends = [moment(k * h, float) for k in (1, -1, 2, -2)]
    slope = (8.0 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12.0 * h)
    exact = moment(1j * COMPLEX_STEP, complex).imag / COMPLEX_STEP
    assert np.abs(exact).max() > 0.01
    np.testing.assert_allclose(exact, slope, atol=1e-9)


def test_complex_steps_pass_through_actuation():
    model = plant_of("mixed").model
    data = Data(model.sizes, complex)
    assert data.u.size > 1
    for k in range(data.u.size):
        data.tau[:] = 7.0  # is overwritten
        data.u[:] = 1.0 + np.arange(data.u.size)
        data.u[k] += 1j * COMPLEX_STEP
        load_kernels(False).set_actuation(model, data)
        expected = np.zeros((2, data.tau.size))
        np.add.at(expected[0], model.actuator_dof, 1.0 + np.arange(data.u.size))
        expected[1, model.actuator_dof[k]] = 1.0
        assert np.array_equal([data.tau.real, data.tau.imag / COMPLEX_STEP], expected)


TRANSMISSIONS = """<mujoco><worldbody><site name="anchor" pos="0 0 1"/><body name="r"><freejoint/>
<geom type="box" size=".1 .1 .1"/><site name="a" pos=".1 .1 0" euler="10 20 30"/><site name="b" pos="-.1 .1 0"/>
<body name="s" pos=".1 0 0"><joint name="j" axis="0 1 0"/><geom size=".02" fromto="0 0 0 .3 0 0" type="capsule"/>
<site name="c" pos=".15 0 .03"/><body name="t" pos=".3 0 0"><joint name="k" axis="0 1 0"/>
<geom name="pin" size=".02 .1" type="cylinder" euler="90 0 0" pos="0 0 .01"/>
<geom size=".02" fromto="0 0 0 .3 0 0" type="capsule"/>
<site name="e" pos=".15 0 .03"/></body></body></body></worldbody>
<tendon><fixed name="f"><joint joint="j" coef=".7"/><joint joint="k" coef="-1.2"/></fixed>
<spatial name="w"><site site="c"/><geom geom="pin"/><site site="e"/><pulley divisor="2"/><site site="anchor"/>
<site site="a"/></spatial></tendon><actuator><motor tendon="f" gear="2"/><position tendon="w" kp="30" kv="2"/>
<motor site="a" gear="0 0 1 0 0 .1"/>
<general site="e" refsite="b" gear="1 .2 0 0 0 .3" biastype="affine" biasprm="0 -20 -1"/>
<general cranksite="e" slidersite="b" cranklength=".9"/>
<muscle tendon="w" lengthrange=".2 1.4" force="40"/></actuator></mujoco>"""


def test_complex_steps_pass_through_transmissions(tmp_path):
    path = tmp_path / "transmissions.xml"
    path.write_text(TRANSMISSIONS)
    plant = load_model(path, contact=False).plant
    model, kernels, rng = plant.model, load_kernels(False), np.random.default_rng(4)
    q = plant.GetPositions(plant.CreateDefaultContext()) + 0.1 * rng.normal(size=plant.num_positions())
    inputs = {"q": q, "v": rng.normal(size=plant.num_velocities()), "u": rng.uniform(0.2, 0.8, model.sizes["nu"])}
    inputs["activation"] = rng.uniform(0.2, 0.8, model.sizes["nactivation"])
    direction = {n: rng.normal(size=value.shape) for n, value in inputs.items()}
    assert model.sizes["ntransmission"] == 6

    def forces(t):
        own = model.replace(dtype=np.result_type(t, float))
        data = data_with(own, moved(inputs, direction, t))
        for name in ("position_stage", "velocity_stage"):
            getattr(kernels, name)(own.handle(False), data.handle(False))
        kernels.calc_transmissions(own.handle(False), data.handle(False), 0.01)
        power = np.array([kernels.power_of_transmissions(own, data)])
        of_each = {n: getattr(data, f"transmission_{n}") for n in ("length", "rate", "moment", "force")}
        loads = np.zeros((model.sizes["nlink"], 6), own.dtype)
        found = of_each | {"tau": data.tau.copy(), "power": power, "loads": loads}
        kernels.calc_transmission_loads(own.handle(False), data.handle(False), loads)
        kernels.calc_generalized_forces(own.handle(False), data.handle(False), loads)
        return found | {"tau_of_loads": data.tau}

    found = forces(0.0)
    np.testing.assert_allclose(found["tau"] @ inputs["v"], found["power"][0], rtol=1e-12)
    of_links = found["moment"][1:].T @ found["force"][1:]  # the first is a sum of joints
    np.testing.assert_allclose(found["tau_of_loads"], of_links, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found["moment"] @ inputs["v"], found["rate"], rtol=1e-10, atol=1e-12)
    assert abs(found["force"]).min() > 1e-3
    assert_fields_close(imaginary(forces(1j * COMPLEX_STEP)), differences(forces), DIFFERENCES)


PATHS = """<mujoco><option timestep=".01"><flag contact="disable"/></option><worldbody>
<body pos="0 0 1" gravcomp="1"><joint name="j" axis="0 1 0" actuatorfrcrange="-.5 .4" actuatorgravcomp="true"/>
 <geom name="pin" type="cylinder" fromto="0 .1 0 0 -.1 0" size=".05" mass="1"/>
 <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/><site name="a" pos=".2 0 .05"/><site name="side" pos="0 0 .1"/>
 <body pos=".3 0 0" gravcomp="1"><joint name="k" axis="0 1 .2"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>
  <geom name="ball" size=".04" mass=".3"/><site name="b" pos=".2 .01 -.05"/></body></body>
<body pos="-.2 0 .7"><joint type="ball"/><geom size=".05" pos=".05 0 .02"/><site name="c" pos="0 .02 .05"/></body>
</worldbody><tendon>
<spatial stiffness="40" damping="3" springlength=".2"><site site="c"/><geom geom="pin" sidesite="side"/><site site="a"/>
 <geom geom="ball"/><site site="b"/></spatial>
<spatial stiffness="70" springlength="2 3"><site site="c"/><site site="a"/><pulley divisor="2"/><site site="a"/>
 <site site="b"/></spatial>
<spatial stiffness="70" damping="2" springlength=".1 3"><site site="c"/><site site="a"/><site site="b"/></spatial>
</tendon><actuator><motor joint="j"/></actuator></mujoco>"""


def test_complex_steps_pass_through_springs_along_paths_and_weights_that_a_drive_holds(tmp_path):
    """Springs that are too long, too short and slack: their power is that of their energy and their dampers."""
    path = tmp_path / "paths.xml"
    path.write_text(PATHS)
    plant = load_model(path, contact=False).plant
    model, kernels, rng = plant.model, load_kernels(False), np.random.default_rng(6)
    q = plant.GetPositions(plant.CreateDefaultContext()) + 0.1 * rng.normal(size=plant.num_positions())
    inputs = {"q": q, "v": rng.normal(size=plant.num_velocities()), "u": np.array([0.1])}
    direction = {n: rng.normal(size=value.shape) for n, value in inputs.items()}
    assert model.sizes["ntransmission"] == 4 and model.sizes["nelement"] == 3

    def found_at(t, direction=direction):
        own = model.replace(dtype=np.result_type(t, float))
        data = data_with(own, moved(inputs, direction, t))
        for name in ("position_stage", "velocity_stage"):
            getattr(kernels, name)(own.handle(False), data.handle(False))
        F, none = np.zeros((model.sizes["nlink"], 6), own.dtype), np.zeros(data.v.shape, own.dtype)
        kernels.calc_transmissions(own.handle(False), data.handle(False), 0.01)
        found = {"of_drive": data.transmission_force.copy()}
        kernels.calc_force_elements(own.handle(False), data.handle(False), 0.0, 1.0, 0.0, F, none)
        kernels.calc_generalized_forces(own.handle(False), data.handle(False), F)
        stored = kernels.calc_energy(own.handle(False), data.handle(False))
        lost = kernels.calc_nonconservative_power(own.handle(False), data.handle(False))
        found |= {"F": F, "tau": data.tau.copy(), "energy": data.energy.copy(), "powers": np.array([stored, lost])}
        kernels.calc_step_dynamics(own.handle(False), data.handle(False), np.zeros_like(F), 0.01, 1.0)
        changes, loads = np.zeros(data.v.shape, own.dtype), np.zeros_like(F)
        kernels.add_element_changes(own, data, changes)
        power = np.array([kernels.power_of_changes(own, data, data.v)])
        kernels.at_forces_of_step(own, data, 0.01)
        kernels.add_changes_on_links(own, data, loads)
        kernels.calc_generalized_forces(own.handle(False), data.handle(False), loads)
        return found | {"vdot": data.vdot.copy(), "changes": changes, "of_loads": data.tau.copy(), "power": power}

    found = found_at(0.0)
    assert abs(found["of_drive"][0] - 0.1) > 1e-3  # it is at its limit
    assert not found["of_drive"][1:].any() and abs(found["powers"]).min() > 1e-3
    data = data_with(model, inputs)
    run("calc_qdot", model, data)
    along = {"q": data.qdot, "v": np.zeros(plant.num_velocities()), "u": np.zeros(1)}
    rate = found_at(1j * COMPLEX_STEP, along)["energy"][1].imag / COMPLEX_STEP
    assert rate == pytest.approx(-found["powers"][0], rel=1e-11)
    still = plant.CreateDefaultContext()
    plant.SetPositions(still, inputs["q"])
    by_gravity = plant.CalcGravityGeneralizedForces(still) @ inputs["v"]
    assert found["tau"] @ inputs["v"] == pytest.approx(found["powers"].sum() - by_gravity, rel=1e-11)
    assert abs(found["changes"]).max() > 1e-6
    np.testing.assert_allclose(found["of_loads"], found["changes"], rtol=1e-9, atol=1e-12)
    assert_fields_close(imaginary(found_at(1j * COMPLEX_STEP)), differences(found_at), DIFFERENCES)


def test_complex_steps_pass_through_the_changes_of_force_elements():
    """What their forces change by in a step: its power at v is that of its generalized forces."""
    model, inputs, kernels = plant_of("discrete").model, inputs_of("discrete"), load_kernels(False)
    rng = np.random.default_rng(12)
    direction = {n: rng.normal(size=value.shape) for n, value in inputs.items()}

    def changes(t):
        own = model.replace(dtype=np.result_type(t, float))
        data = data_with(own, moved(inputs, direction, t))
        run("calc_step_dynamics", own, data)
        tau = np.zeros(data.v.shape, data.v.dtype)
        kernels.add_element_changes(own, data, tau)
        found = {"tau": tau, "power": np.array([kernels.power_of_changes(own, data, data.v)]), "v": data.v.copy()}
        loads = np.zeros((own.sizes["nlink"], 6), data.v.dtype)
        kernels.at_forces_of_step(own, data, 0.01)
        kernels.add_changes_on_links(own, data, loads)
        kernels.calc_generalized_forces(own.handle(False), data.handle(False), loads)
        return found | {"loads": loads, "tau_of_loads": data.tau.copy()}

    found = changes(0.0)
    assert abs(found["tau"]).max() > 1e-6
    on_links = model.dof_ball[:, 0] < 0  # the springs of ball joints are forces of joints
    assert not on_links.all()
    np.testing.assert_allclose(found["tau_of_loads"][on_links], found["tau"][on_links], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found["tau"] @ found["v"], found["power"][0], rtol=1e-10)
    assert_fields_close(imaginary(changes(1j * COMPLEX_STEP)), differences(changes), DIFFERENCES)


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_complex_steps_pass_through_joints_beyond_and_at_their_limits(speed):
    """At rest rounding ends the search at its best point; in motion the derivative is that of differences."""
    plant = limited_plant(path=LIMIT_CASES[0])
    model, kernels = plant.model, load_kernels(False)
    rng = np.random.default_rng(5)
    v, direction = speed * rng.normal(size=plant.num_velocities()), rng.normal(size=plant.num_velocities())
    for q in at_limits(plant, 12):
        q[-4:] += 0.01 * speed  # some are passed

        def vdot(v, dtype=float, q=q):
            data = Data(model.sizes, dtype)
            data.q[:], data.v[:] = q, v
            kernels.at_velocities(model, data)
            kernels.clear_applied_forces(data)
            kernels.gather_forces(model, data, 1e-3, 1)
            kernels.limited_dynamics(model, data, 1e-3)
            return data.vdot

        exact = vdot(v + 1j * COMPLEX_STEP * direction, complex).imag / COMPLEX_STEP
        if speed:
            differences = (vdot(v + 1e-7 * direction) - vdot(v - 1e-7 * direction)) / 2e-7
            np.testing.assert_allclose(exact, differences, atol=1e-5 * abs(exact).max())


def test_complex_steps_pass_through_the_elements_of_a_regressor():
    model, inputs, kernels = plant_of("mixed").model, inputs_of("mixed"), load_kernels(False)
    rng = np.random.default_rng(13)
    moves = {name: rng.normal(size=inputs[name].size) for name in ("q", "v", "vdot")}

    def elements(t):
        dtype = np.result_type(t, float).type
        data = Data(model.sizes, dtype)
        own = model.replace(dtype=dtype)
        for name, direction in moves.items():
            getattr(data, name)[:] = inputs[name] + t * direction
        for stage in ("position_kinematics", "velocity_kinematics", "acceleration_kinematics"):
            getattr(kernels, stage)(own, data)
        found = []
        for f in range(own.frame_body.shape[0]):
            axes, r, w, alpha, a = kernels.motion_of_inertia(own, data, f, 1.0)
            for d in range(data.v.size):
                s_w, s_v = kernels.velocity_by(data, d, axes, r)
                mass, moment = kernels.mass_elements(s_v, s_w, w, alpha, a)
                first, second = kernels.inertia_elements(s_w, w, alpha)
                found.append([mass, *moment, *first, *second])
        return {"Y": np.array(found, dtype)}

    assert_fields_close(imaginary(elements(1j * COMPLEX_STEP)), differences(elements), DIFFERENCES)


def test_complex_steps_pass_through_where_a_step_takes_its_forces():
    """The balance of a run goes there again: to the middle of the step, with the velocities of its velocity terms."""
    model, inputs = plant_of("discrete").model, inputs_of("discrete")
    rng = np.random.default_rng(10)
    dq, dv, dv_terms = (rng.normal(size=n) for n in (inputs["q"].size, inputs["v"].size, inputs["v"].size))

    def middle(t):
        data = data_with(model.replace(dtype=np.result_type(t, float)), {})
        data.q[:], data.v[:] = inputs["q"] + t * dq, inputs["v"] + t * dv
        data.v_terms[:] = 0.5 * inputs["v"] + t * dv_terms
        load_kernels(False).at_forces_of_step(model.replace(dtype=data.q.dtype.type), data, 0.01)
        return {"q": data.q, "X_WB": data.X_WB, "V": data.V}

    assert_fields_close(imaginary(middle(1j * COMPLEX_STEP)), differences(middle), DIFFERENCES)
    started = data_with(model, inputs)
    run("start_of_step", model, started)
    np.testing.assert_array_equal(middle(0.0)["q"], started.q)


def test_complex_steps_pass_through_where_a_step_under_constraints_takes_its_forces():
    scene = constrained_scene(1, dtype=complex)[1]
    data, work, kernels = scene.data, scene.work, load_kernels(False)
    rng = np.random.default_rng(11)
    q, v = data.q.real.copy(), data.v.real.copy()
    dq, dv = rng.normal(size=q.size), rng.normal(size=v.size)
    data.constraint_set = constraint_addresses(kernels, False, (), scene.model, data, scene.constraints, work)

    def middle(t):
        work.q_middle[:], data.v_terms[:] = q + t * dq, v + t * dv
        data.q[:] = data.v[:] = np.nan
        kernels.at_forces_under_constraints(scene.model, data, 0.01)
        return {"q": data.q.copy(), "X_WB": data.X_WB.copy(), "V": data.V.copy()}

    exact = imaginary(middle(1j * COMPLEX_STEP))
    expected = {name: value.real for name, value in differences(middle).items()}
    assert_fields_close(exact, expected, DIFFERENCES)


def test_every_smooth_kernel_has_run_on_complex_numbers(tmp_path):
    """The kernels that the stages call, seen by the profiler; a kernel that none calls is missing here."""
    called = set()

    def see(frame, event, argument):
        if event == "call":
            called.add(frame.f_code)

    previous = sys.getprofile()
    sys.setprofile(see)
    try:
        for plant in PLANTS:
            model, inputs = plant_of(plant).model.replace(dtype=complex), inputs_of(plant)
            for stage in STAGES:
                results(stage, model, inputs)
        test_complex_steps_pass_through_whole_integration_steps("semi_explicit_euler")
        test_complex_steps_pass_through_normalization_of_quaternions()
        test_complex_steps_pass_through_the_power_of_damping()
        test_complex_steps_pass_through_the_moment_of_a_push()
        test_complex_steps_pass_through_actuation()
        test_complex_steps_pass_through_transmissions(tmp_path)
        test_complex_steps_pass_through_springs_along_paths_and_weights_that_a_drive_holds(tmp_path)
        test_complex_steps_pass_through_the_changes_of_force_elements()
        test_complex_steps_pass_through_the_elements_of_a_regressor()
        test_complex_steps_pass_through_where_a_step_takes_its_forces()
        test_complex_steps_pass_through_where_a_step_under_constraints_takes_its_forces()
        test_complex_steps_pass_through_joints_beyond_and_at_their_limits(0.0)
        test_complex_steps_pass_through_joints_beyond_and_at_their_limits(1.0)
        test_complex_steps_pass_through_the_path_to_a_body("mixed")
        test_complex_steps_pass_through_sine_and_cosine(1e12)
        run_every_kernel(constrained_scene(1, dtype=complex)[1])
        test_derivatives_of_forces_of_cut_joints_are_those_of_differences()
        model, inputs = plant_of("mixed").model.replace(dtype=complex), inputs_of("mixed")
        run_derivative_kernels(model, inputs["q"], inputs["v"], inputs["vdot"])
        model, inputs = plant_of("stopped").model.replace(dtype=complex), inputs_of("stopped")
        run_derivative_kernels(model, inputs["q"], inputs["v"], inputs["vdot"])
        model, inputs = plant_of("weightless").model.replace(dtype=complex), inputs_of("weightless")
        run_derivative_kernels(model, inputs["q"], inputs["v"], inputs["vdot"])
    finally:
        sys.setprofile(previous)
    outside = tuple(f"mbcli.engine.{package}" for package in NOT_SMOOTH_PACKAGES)
    smooth = {
        f.__name__: f for f in all_kernels() if f.__name__ not in NOT_SMOOTH and not f.__module__.startswith(outside)
    }
    # these only take states through the others
    takers = tuple(
        f"mbcli.engine.queries.{name}"
        for name in ("batch", "derivative_batch", "regressor_batch", "state_calls", "world_lanes")
    )
    ours = {n: f for n, f in smooth.items() if f.__module__ not in takers}
    missing = {n for n, f in ours.items() if f.__code__ not in called}
    assert not missing


# interpreted and compiled


@plants
@stages
def test_compiled_and_interpreted_agree(stage, plant):
    model, inputs = plant_of(plant).model, inputs_of(plant)
    compiled = results(stage, model, inputs, compiled=True)
    assert_fields_close(compiled, results(stage, model, inputs), ROUNDING)


@pytest.mark.usefixtures("compiled_here")
def test_kernels_compile_for_complex_numbers_too():
    model, inputs = plant_of("mixed").model.replace(dtype=complex), inputs_of("mixed")
    inputs = inputs | {"q": inputs["q"] + 0.1j}
    compiled = results("full_mass_matrix", model, inputs, compiled=True)
    assert abs(compiled["M"].imag).max() > 0.01
    assert_fields_close(compiled, results("full_mass_matrix", model, inputs), ROUNDING)


def test_a_kernel_that_writes_the_model_does_not_compile():
    import numba

    model = plant_of("mixed").model

    @numba.njit
    def pull_harder(model):
        model.gravity[2] = -20.0

    with pytest.raises(numba.TypingError, match="readonly array"):
        pull_harder(struct_of(model))
    with pytest.raises(ValueError, match="read-only"):
        pull_harder.py_func(model)


@pytest.mark.parametrize(("setting", "preferred"), [("0", False), ("1", True), (None, True)])
def test_the_environment_decides_whether_kernels_are_compiled(setting, preferred, monkeypatch):
    if setting is None:
        monkeypatch.delenv("MBCLI_JIT", raising=False)
    else:
        monkeypatch.setenv("MBCLI_JIT", setting)
    assert kernel.compiled_by_default() == preferred
    assert kernel.compiled_by_default(preferred=False) == (setting == "1")


# what a stage writes


def snapshot(data):
    return {f.name: getattr(data, f.name).copy() for f in DATA_FIELDS}


def poisoned(stage, model, inputs, compiled):
    """Data for a stage in which all is NaN but what the stages before it gave and the inputs that it reads."""
    data = data_with(model, inputs)
    for needed in STAGES[stage].after:
        STAGES[needed].run(load_kernels(compiled), *handles(STAGES[needed], model, data, compiled))
    reads = set(STAGES[stage].reads.split())
    given = reads.union(*(STAGES[needed].writes.split() for needed in STAGES[stage].after))
    given |= reads.union(*(STAGES[needed].reads.split() for needed in STAGES[stage].after))
    for f in DATA_FIELDS:
        if f.name not in given or (f.name in STAGES[stage].writes.split() and f.name not in reads):
            first = 1 if f.name in PER_BODY else 0  # row 0 is World's, which Data starts with
            getattr(data, f.name)[first:] = np.nan if f.kind == "real" else NO_MARK
    return data


def claimed_rows(model, name, stage):
    """The rows of a field that a stage which writes it must write."""
    rows = np.ones(getattr(Data(model.sizes), name).shape[0], bool)
    if name in PER_BODY:
        rows[0] = False
    if name in WITHOUT_ONE_AXIS:
        rows &= model.body_has_axis == 0
    if stage.rows and name == stage.writes.split()[0]:
        rows[stage.rows :] = False
    return rows


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@plants
@stages
def test_a_stage_writes_what_it_claims_and_nothing_else(stage, plant, compiled):
    model, inputs = plant_of(plant).model, inputs_of(plant)
    expected = results(stage, model, inputs, compiled=compiled)
    data = poisoned(stage, model, inputs, compiled)
    before = snapshot(data)
    returned = run(stage, model, data, compiled=compiled, only=True)
    writes = STAGES[stage].writes.split()
    for f in DATA_FIELDS:
        value = getattr(data, f.name)
        if f.name in STAGES[stage].may_write.split():
            continue
        if f.name not in writes:
            np.testing.assert_array_equal(value, before[f.name], err_msg=f.name)
            continue
        rows = claimed_rows(model, f.name, STAGES[stage])
        assert np.isfinite(value[rows]).all(), f.name
        np.testing.assert_array_equal(value[rows], expected[f.name][rows], err_msg=f.name)
        if f.name not in ("A", "F_applied"):  # where World's row has a value of its own
            np.testing.assert_array_equal(value[~rows], before[f.name][~rows], err_msg=f.name)
    if STAGES[stage].returns:
        np.testing.assert_array_equal(returned, expected["returned"])


def test_the_stages_of_the_engine_are_all_in_the_table():
    modules = ("mbcli.engine.queries.stages", "mbcli.engine.queries.plant_queries")
    stages = {f.__name__ for f in all_kernels() if f.__module__ in modules}
    stages -= {"query_mass", "along", "body_accelerations"}  # other queries call these
    stages -= {"calc_transmissions", "calc_transmission_loads"}  # test_complex_steps_pass_through_transmissions
    assert stages - NOT_SMOOTH <= set(STAGES)


# sine and cosine


def sine_and_cosine(x, compiled=False):
    sine, cosine = np.empty_like(x), np.empty_like(x)
    load_kernels(compiled).sine_and_cosine(x, sine, cosine)
    return sine, cosine


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("largest", [1.0, 100.0, 4.9e5, 1e12])
def test_sine_and_cosine_are_right_to_the_last_digit(largest, compiled):
    x = np.random.default_rng(0).uniform(-largest, largest, 2000)
    x = np.concatenate([x, [0.0, -0.0], np.arange(-20, 21) * np.pi / 4])
    sine, cosine = sine_and_cosine(x, compiled)
    last_digit = np.finfo(float).eps
    assert abs(sine - np.sin(x.astype(np.longdouble))).max() < last_digit
    assert abs(cosine - np.cos(x.astype(np.longdouble))).max() < last_digit


def test_sine_and_cosine_of_what_is_not_finite_are_not_finite():
    x = np.array([0.5, np.nan, 0.25])
    sine, cosine = sine_and_cosine(x)
    assert np.isnan([sine[1], cosine[1]]).all()
    assert np.isfinite(np.delete([sine, cosine], 1, axis=1)).all()
    with np.errstate(invalid="ignore"):
        assert np.isnan(sine_and_cosine(np.array([np.inf]))).all()


def test_sine_of_a_small_angle_keeps_all_its_digits():
    x = np.array([1e-300, 1e-20, 1e-8])
    np.testing.assert_array_equal(sine_and_cosine(x)[0], np.sin(x))
