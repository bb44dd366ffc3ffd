"""RecordedSensors: what sensors measure at a state as one list of operations, written down once from their kinds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.engine.queries import operations
from mbcli.errors import ModelError
from mbcli.math.rotation_array import four_quaternions
from mbcli.multibody.sensing.rows import Motion, SensedRows
from mbcli.multibody.sensing.touched import contact_sums, pressures, volume_of
from mbcli.tracing.graph import ADD, CONST, DIV, INPUT, MUL, NEG, SQRT, SUB, Graph
from mbcli.tracing.recorded import Recorded, square_root

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mbcli.math.array_types import FloatArray, IntArray
    from mbcli.multibody.sensing.plant_sensing import PlantSensing
    from mbcli.multibody.tree.sensor import Sensor

LARGEST, CHOSEN, SIGNED = "largest", "chosen", "signed"
CODES = {
    ADD: operations.SUM,
    SUB: operations.DIFFERENCE,
    MUL: operations.PRODUCT,
    DIV: operations.QUOTIENT,
    NEG: operations.NEGATIVE,
    SQRT: operations.ROOT,
    LARGEST: operations.LARGEST,
    CHOSEN: operations.CHOSEN,
    SIGNED: operations.SIGNED,
}
PLAIN = ("effort", "energy", "reactions")  # what signals need that is taken as it is
OF_LINK = 24  # numbers of a link: R, p, w, v, alpha, a
ACCELERATION = 18  # the first of them that needs accelerations


class ExactGraph(Graph):
    """Operations as they are asked for: nothing is folded or moved, so that results have the same bits."""

    def add(self, a: int, b: int) -> int:
        """a + b"""
        return self._node((ADD, a, b))

    def sub(self, a: int, b: int) -> int:
        """a - b"""
        return self._node((SUB, a, b))

    def mul(self, a: int, b: int) -> int:
        """a b"""
        return self._node((MUL, a, b))

    def div(self, a: int, b: int) -> int:
        """a / b"""
        return self._node((DIV, a, b))

    def neg(self, a: int) -> int:
        """-a"""
        return self._node((NEG, a, 0))

    def function(self, name: str, a: int) -> int:
        """sqrt of a number. ModelError for another function."""
        if name != SQRT:
            raise ModelError(f"{name} is not among the operations of sensors")
        return self._node((SQRT, a, 0))

    def arctan2(self, a: int, b: int) -> int:
        """ModelError."""
        raise ModelError("arctan2 is not among the operations of sensors")

    def other(self, name: str, a: Any, b: int = 0) -> int:
        """LARGEST and CHOSEN of four nodes a, SIGNED of a."""
        return self._node((name, a, b))

    def operands(self, node: int) -> tuple[int, ...]:
        """As of Graph."""
        row: Any = self.rows[node]  # whose a may be four nodes
        operation, a, b = row
        if operation in (LARGEST, CHOSEN):
            return (*a, b) if operation == CHOSEN else a
        return (a, b) if operation == SIGNED else super().operands(node)


class _WrittenRows(SensedRows):
    """One state whose numbers are Recorded; ModelError for what is decided by them, or comes from contacts or rays."""

    def __init__(self, inputs: _Inputs, stage: str, sensing: PlantSensing, **given: Any) -> None:
        sizes = sensing.model.sizes
        q, v = inputs.block("q", (1, sizes["nq"])), inputs.block("v", (1, sizes["nv"]))
        super().__init__(sensing, inputs.block("time", (1,)), q, v, **given)
        self._inputs, self._stage = inputs, stage

    def _motions_of(self, links: Sequence[int]) -> dict[int, Motion]:
        for n in links:
            if n not in self._motions:
                x = self._inputs.block((self._stage, n), (1, OF_LINK))
                p, w, v, alpha, a = (x[:, k : k + 3] for k in range(9, OF_LINK, 3))
                self._motions[n] = Motion(x[:, :9].reshape(1, 3, 3), p, w, v, alpha, a)
        return self._motions

    def quaternions(self, R: Any) -> Any:
        """As of SensedRows, operation by operation as quaternion_from_matrix() does them."""
        squares, candidates = four_quaternions(R[0])
        graph = squares[0].graph
        largest = graph.other(LARGEST, tuple(x.node for x in squares))
        w, x, y, z = (
            Recorded(graph, graph.other(CHOSEN, tuple(four[k].node for four in candidates), largest)) for k in range(4)
        )
        norm = square_root(w * w + x * x + y * y + z * z)
        norm = Recorded(graph, graph.other(SIGNED, w.node, norm.node))
        return np.array([[part / norm for part in (w, x, y, z)]], dtype=object)

    def contacts_of(self, *_: Any) -> Any:
        raise ModelError("contacts are as many as there are")

    def contact_sums(self, body: Any, geometries: Sequence[str] | None) -> Any:
        return _OfContacts(4, partial(contact_sums, self._sensing, count=1, body=body, names=geometries))

    def pressures(self, body: Any, S: Motion, shape: tuple[str, Any]) -> Any:
        call = partial(pressures, self._sensing, body=body, volume=volume_of(shape))
        return _OfContacts(1, call, np.concatenate([S.R.ravel(), S.p.ravel()]))

    def distances(self, *_: Any) -> Any:
        raise ModelError("rays are decided by what they meet")

    def _wrench(self, link: int) -> Any:
        raise ModelError("contacts and pushes may act")


class _OfContacts(NamedTuple):
    """Columns that a function makes of the contacts, and of a pose of Recorded numbers (12,) if there is one."""

    columns: int
    call: Callable[..., FloatArray]
    pose: Any = None


class _Inputs:
    """The inputs of a record: blocks of numbers, in the order in which they were asked for.

    Attributes:
        blocks: {name: its places among all inputs}; of links (stage, number).
        count: how many numbers there are.
    """

    def __init__(self, graph: ExactGraph) -> None:
        self._graph, self.blocks, self.count = graph, dict[Any, slice](), 0

    def block(self, name: Any, shape: tuple[int, ...]) -> Any:
        """The numbers of a block."""
        size = int(np.prod(shape))
        if name not in self.blocks:
            self.blocks[name] = slice(self.count, self.count + size)
            self.count += size
        first, numbers = self.blocks[name].start, np.empty(size, dtype=object)
        numbers[:] = [Recorded(self._graph, self._graph.input(first + k)) for k in range(size)]
        return numbers.reshape(shape)


class _Stage(NamedTuple):
    """The links whose motions are inputs, at the state or where a step takes its forces.

    places: (m * OF_LINK,) of their numbers. accelerates: whether accelerations are among them.
    """

    links: list[int]
    places: IntArray
    accelerates: bool


class RecordedSensors:
    """Sensors of a plant whose kinds do the same operations at every state.

    Args:
        sensing: compiled, whose motions it takes. sensors: those that are to be recorded. given: what their signals are
            computed from at one state, as SensorEvaluator.given() has it, of which the shapes count.

    Attributes:
        sensors: of these those that are recorded; the others decide by numbers, by contacts or by rays.
    """

    def __init__(self, sensing: PlantSensing, sensors: Sequence[Sensor], given: Mapping[str, Any]) -> None:
        self._sensing, self.sensors = sensing, list[Any]()
        self._places: dict[str, slice] = {}
        self._of_contacts: list[tuple[str, Callable[..., FloatArray], slice | None]] = []
        graph = ExactGraph()
        inputs = _Inputs(graph)
        plain = {name: inputs.block(name, given[name].shape) for name in PLAIN if name in given}
        rows: Any = _WrittenRows(inputs, "state", sensing, **plain)
        if "steps" in given:
            rows.in_steps = _WrittenRows(inputs, "step", sensing, **plain)
        results: list[int] = []
        for sensor in sensors:
            found = _recorded(sensor, rows)
            if found is None:
                continue
            self.sensors.append(sensor)
            numbers = np.ravel(found) if type(found) is not _OfContacts else () if found.pose is None else found.pose
            nodes = [x.node if type(x) is Recorded else graph.constant(x) for x in numbers]
            place = slice(len(results), len(results) + len(nodes))
            results += nodes
            if type(found) is _OfContacts:
                self._of_contacts.append((sensor.path, found.call, None if found.pose is None else place))
            else:
                self._places[sensor.path] = place
        self._cut = [sensor for sensor in self.sensors if sensor.is_cut()]
        order = graph.order(dict.fromkeys(results))
        self._write(graph, inputs, order, results)
        used = {int(graph.rows[node][1]) for node in order if graph.rows[node][0] == INPUT}
        self._state, self._step = (_stage(name, inputs.blocks, used) for name in ("state", "step"))
        self._plain = {name: self._numbers[inputs.blocks[name]] for name in ("time", "q", "v", *plain)}

    def _write(self, graph: ExactGraph, inputs: _Inputs, order: list[int], results: list[int]) -> None:
        """The operations as a table, and their numbers, of which the inputs are the first."""
        numbers, table = [0.0] * inputs.count, list[tuple[int, int, int, int]]()
        place: dict[int, int] = {}
        for node in order:
            operation, a, _ = graph.rows[node]
            if operation == INPUT:
                place[node] = int(a)
                continue
            operands = [place[x] for x in graph.operands(node)]
            if operation in (LARGEST, CHOSEN):  # they take four that stand one after another
                first = len(numbers)
                table += [(operations.COPY, first + k, operands[k], 0) for k in range(operations.FOUR)]
                numbers += [0.0] * operations.FOUR
                operands[: operations.FOUR] = [first]
            place[node] = len(numbers)
            if operation != CONST:
                first, second = (*operands, 0)[:2]
                table.append((CODES[operation], place[node], first, second))
            numbers.append(float(a) if operation == CONST else 0.0)
        self._operations, self._numbers = np.array(table, dtype=np.int64).reshape(-1, 4), np.array(numbers)
        self._results = np.array([place[node] for node in results], dtype=np.int64)

    def values(self, time: float, q: FloatArray, v: FloatArray, given: Mapping[str, Any]) -> dict[str, FloatArray]:
        """{path of a sensor: (1, columns)} at a state q (1, nq), v (1, nv), given as SensorEvaluator.given() has it."""
        plain = self._plain
        plain["time"][0], plain["q"][:], plain["v"][:] = time, q[0], v[0]
        for name in PLAIN:
            if name in plain:
                plain[name][:] = given[name].ravel()
        self._take(self._state, q, v, given.get("vdot"))
        if self._step.links:
            steps = given["steps"]
            self._take(self._step, steps.q, steps.v, steps.vdot)
        self._sensing.kernel("run_operations", 1)(self._operations, self._numbers)
        found = self._numbers[self._results][np.newaxis]
        values = {path: found[:, place] for path, place in self._places.items()}
        contacts = given.get("contacts")
        for path, call, place in self._of_contacts:
            pose = {} if place is None else {"poses": found[:, place]}
            values[path] = call(sampled=contacts, **pose)
        for sensor in self._cut:
            values[sensor.path] = sensor.cut(values[sensor.path])
        return values

    def _take(self, stage: _Stage, q: FloatArray, v: FloatArray, vdot: FloatArray | None) -> None:
        """The motions of its links."""
        if stage.links:
            R, p, V, A = self._sensing.link_motions(q, v, vdot if stage.accelerates else None, stage.links)
            motions = np.concatenate([R[0].reshape(len(p[0]), 9), p[0], V[0], A[0]], axis=1)
            self._numbers[stage.places] = motions.ravel()


def _recorded(sensor: Sensor, rows: SensedRows) -> Any:
    """Its columns as Recorded numbers, or _OfContacts; None if it decides, or asks for what such numbers have not."""
    try:
        return sensor.kind.values(sensor, rows)
    except (ModelError, TypeError, AttributeError):
        return None


def _stage(name: str, blocks: Mapping[Any, slice], used: set[int]) -> _Stage:
    """The links of a stage of which something is used."""
    links, places, accelerates = list[int](), list[int](), False
    for block, where in blocks.items():
        own = range(where.start, where.stop)
        if isinstance(block, tuple) and block[0] == name and not used.isdisjoint(own):
            links.append(block[1])
            places += own
            accelerates = accelerates or not used.isdisjoint(own[ACCELERATION:])
    return _Stage(links, np.array(places, dtype=int), accelerates)
