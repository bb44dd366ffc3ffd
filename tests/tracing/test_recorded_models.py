"""Records of models give what kernels give; their derivatives are those of complex steps of the kernels."""

import numpy as np
import pytest
from repository import SAMPLES
from test_recorded_numbers import value_of

from mbcli.engine.runtime.linking import load_kernels
from mbcli.engine.runtime.model import Data
from mbcli.errors import ModelError
from mbcli.models.loading import load_model
from mbcli.models.states import set_random_state
from mbcli.multibody.core.position_stops import position_stops
from mbcli.multibody.core.run_plant import plant_of_run
from mbcli.tracing import MODEL_FUNCTIONS, Record, Variable, partials, record_function
from mbcli.tracing.partials import _backward, _forward

MODELS = ("double_pendulum.urdf", "all_joints.sdf", "quadruped.urdf")


def loaded(name, dt=0.0, **settings):
    plant = load_model(SAMPLES / name, dt=dt, **settings).plant
    plant.prefers_interpreted = True
    return plant, plant.CreateDefaultContext()


def inputs_at(plant, context, names, random):
    set_random_state(plant, context, random)
    nv = plant.num_velocities()
    given = {"q": context.state.q.copy(), "v": random.normal(size=nv)}
    given |= {"vdot": random.normal(size=nv), "tau": random.normal(size=nv)}
    return [given[name] for name in names]


def place_of(function, model):
    return {"frame": model.sizes["nframe"] - 1, "links": np.ones(model.sizes["nlink"]), "": None}[function.of]


@pytest.mark.parametrize("name", MODELS)
def test_records_give_what_kernels_give(name):
    plant, context = loaded(name)
    model, random = context.state.model, np.random.default_rng(1)
    for title, function in MODEL_FUNCTIONS.items():
        of = place_of(function, model)
        made = record_function(title, model, of)
        for _ in range(3):
            inputs = inputs_at(plant, context, function.inputs, random)
            wanted = function.evaluate(load_kernels(False), model, Data(model.sizes), inputs, of)
            wanted = np.concatenate([each.ravel() for each in wanted])
            found = value_of(made, np.concatenate(inputs))
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * max(1.0, abs(wanted).max()), err_msg=title)


def test_a_locked_joint_has_no_acceleration():
    plant, context = loaded("double_pendulum.urdf", dt=1e-3)
    plant.GetJointByName("elbow").Lock(context)
    context.state.ready_parameters()
    made = record_function("forward_dynamics", context.state.model)
    assert made.rows[made.results[1]] == ("const", 0.0, 0)
    assert value_of(made, [0.3, 0.4, 0.0, 0.0, 1.0, 2.0])[0] != 0.0


def test_limits_of_joints_become_selections():
    own, _ = loaded("quadruped.urdf")
    plant = plant_of_run(own, stops=position_stops(own))
    context = plant.CreateDefaultContext()
    model = context.state.model
    made = record_function("inverse_dynamics", model)
    assert made.counts()["sign"] > 0
    function, random = MODEL_FUNCTIONS["inverse_dynamics"], np.random.default_rng(2)
    for _ in range(5):
        inputs = inputs_at(plant, context, function.inputs, random)
        inputs[0][model.dof_q[model.stop_dof]] *= 4.0  # beyond some limits
        wanted = function.evaluate(load_kernels(False), model, Data(model.sizes), inputs, None)[0]
        np.testing.assert_allclose(value_of(made, np.concatenate(inputs)), wanted, rtol=1e-11, atol=1e-11)


def test_turns_by_right_angles_leave_no_operations_of_rounding():
    """Elements such as 6e-17 of a rotation are no numbers of a model."""
    _, context = loaded("quadruped.urdf")
    assert (np.abs(context.state.model.body_X_PF[:, :9]) % 1.0 < 1e-15).any()
    made = record_function("jacobian", context.state.model, context.state.model.sizes["nframe"] - 1)
    constants = [abs(a) for operation, a, _ in made.rows if operation == "const" and a]
    assert min(constants) > 1e-12


@pytest.mark.parametrize("title", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "pose", "energy"])
def test_partials_are_those_of_complex_steps(title):
    plant, context = loaded("all_joints.sdf")
    model, random = context.state.model, np.random.default_rng(3)
    function = MODEL_FUNCTIONS[title]
    of = place_of(function, model)
    made = record_function(title, model, of)
    derived = partials(made)
    inputs = inputs_at(plant, context, function.inputs, random)
    complex_model, data = model.replace(dtype=complex), Data(model.sizes, np.dtype(complex))
    found = value_of(derived, np.concatenate(inputs))
    sizes = [each.size for each in derived.outputs]
    blocks = iter(np.split(found, np.cumsum(sizes)[:-1]))
    for out, output in enumerate(made.outputs):
        for k, given in enumerate(inputs):
            name = f"d{output.name}_d{function.inputs[k]}"
            wanted = np.zeros((output.size, len(given)))
            for i in range(len(given)):
                shifted = [each.astype(complex) for each in inputs]
                shifted[k][i] += 1e-40j
                values = function.evaluate(load_kernels(False), complex_model, data, shifted, of)
                wanted[:, i] = values[out].ravel().imag / 1e-40
            block = next(blocks).reshape(wanted.shape)
            np.testing.assert_allclose(block, wanted, rtol=0, atol=1e-11 * max(1.0, abs(wanted).max()), err_msg=name)
            rows, columns = derived.sparsity[name]
            outside = np.ones_like(wanted, dtype=bool)
            outside[rows, columns] = False
            assert not wanted[outside].any()


def test_forward_and_backward_passes_are_equal():
    plant, context = loaded("double_pendulum.urdf")
    made = record_function("energy", context.state.model)
    values = []
    for graph, elements in (_forward(made), _backward(made)):
        nodes = [row.get(k, graph.zero) for row in elements for k in range(4)]
        values.append(value_of(Record("d", graph, made.inputs, [Variable("d", (8,))], nodes), [0.3, -0.2, 1.0, 2.0]))
    np.testing.assert_allclose(*values, rtol=1e-13, atol=1e-13)


def test_forces_that_decide_by_the_state_are_refused():
    _, context = loaded("all_joints.sdf")
    model = context.state.model.replace()
    model.sizes = {**model.sizes, "nspring": 1}
    with pytest.raises(ModelError, match="spring-dampers, bushings and transmissions"):
        record_function("inverse_dynamics", model)
