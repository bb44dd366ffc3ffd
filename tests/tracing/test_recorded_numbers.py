"""What a graph of operations keeps: constants folded, equal operations once, nothing that is 0 or 1, no decision."""

import math

import numpy as np
import pytest

from mbcli.errors import ModelError
from mbcli.tracing import Graph, Record, Variable
from mbcli.tracing.recorded import Recorded, arctangent, cosine, hyperbolic_tangent, sign_of, sine, square_root


def numbers(count):
    graph = Graph()
    return graph, [Recorded(graph, graph.input(k)) for k in range(count)]


def record(graph, inputs, *results):
    nodes = [x.node if isinstance(x, Recorded) else graph.constant(x) for x in results]
    return Record("f", graph, [Variable("x", (inputs,))], [Variable("y", (len(results),))], nodes)


def value_of(record, inputs):
    """The outputs of a record, by its rows one after another."""
    found = []
    functions = {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt, "tanh": math.tanh, "neg": lambda x: -x}
    functions |= {"sign": lambda x: math.copysign(1.0, x)}
    two = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y}
    two |= {"arctan2": math.atan2}
    for k, (operation, a, b) in enumerate(record.rows):
        if operation == "const":
            found.append(a)
        elif operation == "input":
            found.append(inputs[int(a)])
        elif operation in two:
            assert a < k and b < k
            found.append(two[operation](found[int(a)], found[b]))
        else:
            assert a < k
            found.append(functions[operation](found[int(a)]))
    return np.array([found[row] for row in record.results])


def test_zeros_and_ones_and_constants_leave_no_operation():
    graph, (x,) = numbers(1)
    y = (x * 1.0 + 0.0) / 1.0 - 0.0 * x + (2.0 - 2.0) * x
    assert y.node == x.node
    assert (x - x).node == graph.zero
    assert record(graph, 1, 3.0 * (2.0 * x)).counts() == {"mul": 1}
    assert record(graph, 1, x * np.float64(2.0) + np.int64(3) - 3).counts() == {"mul": 1, "add": 2}


def test_equal_operations_stand_once_and_dead_ones_do_not():
    graph, (x, y) = numbers(2)
    cosine(x * 17.0)
    total = x * y + y * x
    made = record(graph, 2, total, sine(x * y))
    assert made.counts() == {"mul": 1, "add": 1, "sin": 1}


def test_signs_move_into_sums():
    graph, (x, y) = numbers(2)
    made = record(graph, 2, y + (-x) * 2.0, -(-1.0 * x), x - (-y), sine(-x), cosine(-x), (-x) * (-y), x - y, y - x)
    assert made.counts() == {"mul": 2, "sub": 2, "add": 1, "sin": 1, "cos": 1, "neg": 2}
    np.testing.assert_allclose(
        value_of(made, [0.3, 0.7]),
        [0.7 - 0.6, 0.3, 1.0, -math.sin(0.3), math.cos(0.3), 0.21, -0.4, 0.4],
        rtol=1e-15,
    )


def test_random_expressions_have_the_values_of_floats():
    random = np.random.default_rng(0)
    for _ in range(30):
        inputs = random.uniform(0.5, 2.0, 4)
        graph, recorded = numbers(4)
        floats, pool = list(inputs), list(recorded)
        for _ in range(60):
            i, j, kind = random.integers(len(pool)), random.integers(len(pool)), random.integers(9)
            c = float(random.choice([0.0, 1.0, -1.0, 2.5, -0.5]))
            f, g, x, y = floats[i], floats[j], pool[i], pool[j]
            made = [
                lambda f, g: f + g,
                lambda f, g: f - g,
                lambda f, g: f * g,
                lambda f, g, c=c: f + c,
                lambda f, g, c=c: c - f,
                lambda f, g, c=c: c * f,
                lambda f, g: -f,
                lambda f, g: sine(f) / (2.0 + cosine(g)),
                lambda f, g: arctangent(f, square_root(g * g + 1.0)) + sign_of(f) * hyperbolic_tangent(g),
            ][kind]
            floats.append(made(f, g))
            pool.append(made(x, y))
        found = value_of(record(graph, 4, *pool), inputs)
        np.testing.assert_allclose(found, floats, rtol=1e-9, atol=1e-9)


def test_infinite_constants_lock_as_floats_do():
    graph, (x,) = numbers(1)
    locked = x + float("inf")
    assert graph.values[locked.node] == float("inf")
    assert graph.values[(x / locked).node] == 0.0


def test_a_decision_by_a_recorded_number_is_refused_by_the_name_of_its_kernel():
    from mbcli.engine.smooth.joints.curvilinear import segment_at

    _, (x,) = numbers(1)
    for decide in (
        lambda: x < 1.0,
        lambda: x == 0.0,
        lambda: bool(x),
        lambda: float(x),
        lambda: abs(x),
        lambda: x.real,
    ):
        with pytest.raises(ModelError, match="a record of operations cannot hold this model"):
            decide()
    with pytest.raises(ModelError, match=r"segment_at\(\) of the engine decides"):
        segment_at(np.zeros((2, 8)), np.array([[0, 2, 0]]), 0, 1.0, x)
    with pytest.raises(ModelError, match="of type complex"):
        x + 1j


def test_values_are_used_soon_after_they_are_made():
    """Of a sum of many products each is added at once: never do more than a few wait."""
    graph, recorded = numbers(40)
    total = recorded[0] * recorded[1]
    for k in range(2, 40):
        total = total + recorded[k] * recorded[k - 1]
    made = record(graph, 40, total)
    last = {}
    for k, (operation, a, b) in enumerate(made.rows):
        if operation not in ("input", "const"):
            last[int(a)] = last[b] = k
    waiting = most = 0
    for k, (operation, _, _) in enumerate(made.rows):
        if operation not in ("input", "const"):
            waiting += 1
            waiting -= sum(1 for row, end in last.items() if end == k and made.rows[row][0] not in ("input", "const"))
            most = max(most, waiting)
    assert most <= 3
