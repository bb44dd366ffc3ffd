"""compare_engines(): one model and state in this engine and in others, and what made them differ."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.coordinate_names import listed
from mbcli.common.extra_packages import install_line
from mbcli.common.suggestions import closest
from mbcli.comparison.differences import Comparison, Difference, deviation, largest_where, likely_cause
from mbcli.comparison.own_engine import evaluate_own
from mbcli.comparison.peer_process import MODULES, PeerError, ask, installed
from mbcli.errors import ArgumentError, ResourceError
from mbcli.models.loaded_model import LoadedModel
from mbcli.models.loading import load_model
from mbcli.models.parameter_assignments import changed_parameters, parameters_of
from mbcli.parsers.formats import MODEL_FORMATS, titles

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, Vector

TOLERANCE = 1e-6  # relative
OF_SIMULATION = 1e-3  # [rad or m] after the duration: steps and integrators differ
UNSTABLE = 1e4  # [rad or m] no joint goes that far in a second
OF_STATE = ("M", "bias", "gravity_forces", "accelerations")
NAMES = {
    "M": "mass_matrix",
    "poses": "pose",
    "masses": "mass",
    "coms": "com",
    "inertias": "inertia",
    "limits": "limits",
}
OF_ELEMENTS = {"masses": "body", "coms": "body", "inertias": "body", "poses": "body", "limits": "joint"}
# what engines leave out: (words, changes of our model that do the same)
LEFT_OUT = (
    ("the damping of joints is ignored", {"joint.*.damping": 0}),
    ("the armature (rotor inertia) is dropped", {"joint.*.armature": 0, "actuator.*.rotor_inertia": 0}),
    ("springs of joints are ignored", {"joint.*.stiffness": 0}),
    (
        "damping and armature are ignored",
        {"joint.*.damping": 0, "joint.*.armature": 0, "actuator.*.rotor_inertia": 0},
    ),
    ("damping and springs are ignored", {"joint.*.damping": 0, "joint.*.stiffness": 0}),
)


def compare_engines(
    model: Any,
    state: tuple[np.ndarray, np.ndarray] | None = None,
    *,
    engines: Iterable[str] | None = None,
    tolerance: float = TOLERANCE,
    duration: float = 1.0,
    loading: Mapping[str, Any] | None = None,
) -> Comparison:
    """What other engines compute otherwise of one model, without contact.

    Args:
        model: a LoadedModel of one file, without contact and continuous (dt=0), as other engines are asked to
            simulate; or what load_model() takes.
        state: (q, v); default: that of the model. Floating bases are taken at rest.
        engines: names: pydrake, pinocchio, mujoco, pybullet; None: those that are installed.
        tolerance: relative difference that counts as none; after a simulation at least OF_SIMULATION counts.
        duration: [s] that each engine simulates; 0 for none.
        loading: arguments that load_model() had: packages.

    Raises:
        ArgumentError: an engine is unknown, or the model is of several files.
        ResourceError: an engine is not installed.
    """
    loaded = model if isinstance(model, LoadedModel) else load_model(model, dt=0.0)
    if len(loaded.read) != 1:
        raise ArgumentError(f"one model file ({titles(MODEL_FORMATS)}) is compared in several engines")
    chosen = _chosen(engines)
    here = _Model(loaded, state)
    result = Comparison(tolerance)
    own = here.document(duration)
    request = here.request(duration, loading or {})
    for engine in chosen:
        try:
            other = ask(engine, request)
        except PeerError as error:
            result.engines[engine] = str(error)
            result.without_result.append(engine)
            continue
        result.engines[engine] = f"version {other['version']}" if other.get("version") else "compared"
        _Engine(engine, here, own, other, result).compare(duration)
    return result


def _chosen(engines: Iterable[str] | None) -> list[str]:
    there = installed()
    if engines is None:
        if not there:
            raise ResourceError(f"no other engine is installed: {install_line('peers')}")
        return there
    names = list(engines)
    for name in names:
        if name not in MODULES:
            likely = closest(name, list(MODULES))
            hint = f"did you mean {likely}?" if likely else f"there are {', '.join(MODULES)}"
            raise ArgumentError(f"there is no engine '{name}'; {hint}")
        if name not in there:
            raise ResourceError(f"the engine {name} is not installed: there is no package {MODULES[name][0]}")
    return names


class _Model:
    """Our model at a state, and what other engines are asked."""

    def __init__(self, loaded: LoadedModel, state: tuple[Vector, Vector] | None) -> None:
        self.loaded, plant = loaded, loaded.plant
        self.plant = plant
        q, v = (plant.GetDefaultPositions(), np.zeros(plant.num_velocities())) if state is None else state
        self.q, self.v = np.array(q), np.array(v)
        for joint in plant.moving_joints():
            if joint.num_velocities() == 6:
                self.v[joint.velocity_start() : joint.velocity_start() + 6] = 0.0

    def document(self, duration: float) -> dict[str, Any]:
        return evaluate_own(self.plant, self.q, self.v, duration)

    def without(self, changes: Mapping[str, float]) -> dict[str, Any] | None:
        """Our document of a model without something, None if it has none of it."""
        there = {path.rpartition(".")[2] for path in parameters_of(self.loaded)}
        changes = {path: value for path, value in changes.items() if path.rpartition(".")[2] in there}
        if not changes:
            return None
        try:
            with changed_parameters(self.loaded, changes):
                return self.document(0.0)
        except ArgumentError:  # a pattern that nothing has
            return None

    def request(self, duration: float, loading: Mapping[str, Any]) -> dict[str, Any]:
        plant, spec = self.plant, self.loaded.read[0]
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, self.q)
        single = [joint for joint in plant.moving_joints() if joint.num_velocities() == 1]
        floating = [joint.child_body() for joint in plant.free_joints.values()]
        welded = [
            joint.child_body()
            for joint in plant.moving_joints()
            if joint.num_velocities() == 0 and int(joint.parent_body().index()) == 0
        ]
        packages = loading.get("packages")
        return {
            "path": os.path.abspath(spec.sources[0].path),
            "format": spec.format,
            "q": {joint.name(): self.q[joint.position_start()] for joint in single},
            "v": {joint.name(): self.v[joint.velocity_start()] for joint in single},
            "bases": {body.name(): body.EvalPoseInWorld(context).GetAsMatrix4() for body in floating},
            "welded": {body.name(): body.EvalPoseInWorld(context).GetAsMatrix4() for body in welded},
            "gravity": plant.gravity_field().gravity_vector(),
            "packages": packages if isinstance(packages, dict) else {},
            "duration": duration,
        }


class _Engine:
    """The differences of one engine."""

    def __init__(
        self, name: str, model: _Model, own: dict[str, Any], other: dict[str, Any], result: Comparison
    ) -> None:
        self.name, self.model, self.own, self.other, self.result = name, model, own, other, result
        self.roots: list[str] = []  # differences of elements, from which others follow

    def note(self, name: str, worst: float, where: str, cause: str) -> None:
        self.result.differences.append(Difference(name, worst, where, cause, self.name))

    def compare(self, duration: float) -> None:
        for key in ("masses", "coms", "inertias", "poses", "limits"):
            self._compare_elements(key)
        self._compare_total_mass()
        if "M" in self.other and self._same_velocities():
            for key in OF_STATE:
                if key in self.other:
                    self._compare_state(key)
        if duration > 0.0 and "final" in self.other:
            self._compare_final(duration)

    def _seen(self, name: str, relative: float) -> None:
        self.result.compared[name] = max(self.result.compared.get(name, 0.0), relative)

    def _compare_elements(self, key: str) -> None:
        own, other = self.own[key], self.other.get(key, {})
        name = NAMES.get(key, key)
        for element in (element for element in own if element in other):
            one, two = (np.array(x[element], dtype=float) for x in (own, other))
            least = {"masses": 1e-6, "inertias": 1e-6}.get(key, 1.0)
            gap, relative = deviation(np.atleast_1d(one), np.atleast_1d(two), least)
            self._seen(name, relative)
            if relative > self.result.tolerance:
                cause = self._element_cause(key, np.atleast_1d(one), np.atleast_1d(two))
                where = f"{OF_ELEMENTS[key]} {element}"
                self.note(name, gap, where, cause)
                self.roots.append(f"{name} of {where}")

    def _element_cause(self, key: str, one: Vector, two: Vector) -> str:
        values = f"{_text(one)} here, {_text(two)} there" if one.size <= 6 else ""
        guess = likely_cause(one, two, NAMES.get(key, key))
        if key == "masses" and not one.any():
            guess = "the engine gives a body without mass some"
        if key in ("masses", "inertias") and not guess:
            guess = "the engine replaces it, or computes it from meshes"
        if key == "limits":
            guess = guess or "the engine reads other limits"
        if key == "poses":
            turned = float(np.max(np.abs((one - two).reshape(4, 4)[:3, :3])))
            moved = float(np.max(np.abs((one - two).reshape(4, 4)[:3, 3])))
            guess = f"turned by up to {turned:.3g}, moved by {moved:.3g} m"
        return "; ".join(text for text in (values, guess) if text)

    def _compare_total_mass(self) -> None:
        if "total_mass" not in self.other:
            return
        welded = sum(self.own["masses"].get(body, 0.0) for body in self._anchored())
        one = sum(self.own["masses"].values())
        two = self.other["total_mass"]
        gap = min(abs(one - two), abs(one - welded - two))  # what does not move may not count there
        self._seen("total_mass", gap / max(one, 1e-6))
        if gap > self.result.tolerance * max(one, 1e-6):
            cause = f"{one:.6g} kg here, {two:.6g} kg there; a body is left out, or has a mass of its mesh"
            self.note("total_mass", gap, "the model", cause)
            self.roots.append("total mass")

    def _anchored(self) -> list[str]:
        plant = self.model.plant
        return [body.name() for body in plant.elements.bodies[1:] if plant.IsAnchored(body)]

    def _same_velocities(self) -> bool:
        own, other = self.own["velocities"], self.other["velocities"]
        missing, more = [n for n in own if n not in other], [n for n in other if n not in own]
        if not missing and not more:
            self.order = [other.index(name) for name in own]
            return True
        parts = [f"{text} {listed(names)}" for text, names in (("it has no", missing), ("only it has", more)) if names]
        words = "; ".join(parts)
        self.note("coordinates", math.inf, "the model", f"{words}: another base, joint type, or mimic joint")
        return False

    def _compare_state(self, key: str) -> None:
        one, two = self.own[key], self._ordered(self.other[key])
        name = NAMES.get(key, key)
        gap, relative = deviation(one, two, 1.0 if key == "accelerations" else 1e-3)
        self._seen(name, relative)
        if relative <= self.result.tolerance:
            return
        where = largest_where(one, two, self.own["velocities"])
        cause = self._left_out(key, two)
        if cause is None and self.roots:
            cause = f"follows from {listed(self.roots)}"
        self.note(name, gap, where, cause or "another force or law: friction, limits, or constraints of the engine?")
        if cause is None or not cause.startswith("follows"):
            self.roots.append(name)

    def _ordered(self, values: ArrayLike) -> Array:
        array = np.array(values, dtype=float)
        return array[np.ix_(self.order, self.order)] if array.ndim == 2 else array[self.order]

    def _left_out(self, key: str, two: Array) -> str | None:
        """What the engine leaves out, if that makes the difference; None if nothing does."""
        for words, changes in LEFT_OUT:
            document = self.model.without(changes)
            if document is not None:
                _, relative = deviation(document[key], two, 1.0)
                if relative <= max(self.result.tolerance, TOLERANCE):
                    return words
        return None

    def _compare_final(self, duration: float) -> None:
        own, other = self.own.get("final", {}), self.other["final"]
        names = [name for name in own if name in other]
        if not names:
            return
        one, two = (np.array([x[name] for name in names], dtype=float) for x in (own, other))
        gaps = np.abs(one - two)
        gap = float(np.max(gaps)) if np.isfinite(gaps).all() else math.inf
        self._seen("simulation", gap)
        if gap > max(self.result.tolerance, OF_SIMULATION):
            where = names[int(np.argmax(np.nan_to_num(gaps, nan=np.inf)))]
            beyond = [n for n, x in zip(names, one, strict=True) if not self._within(n, x)]
            if self.roots:
                cause = f"follows from {listed(self.roots)}"
            elif gap > UNSTABLE:
                cause = "the simulation of the engine is not stable"
            elif beyond:
                cause = f"limits act there: {listed(beyond)} went beyond its limits here"
            else:
                cause = "steps, integrators or dry friction differ"
            self.note("simulation", gap, f"joint {where} after {duration:g} s", cause)

    def _within(self, name: str, position: float) -> bool:
        lower, upper = self.own["limits"].get(name, (-math.inf, math.inf))
        return lower <= position <= upper


def _text(values: Vector) -> str:
    texts = [f"{x + 0.0:.6g}" for x in values.ravel()]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
