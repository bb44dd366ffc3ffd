"""A composed stage in SI units with z up: its prims as nodes that findings can name."""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.diagnostics import without_text
from mbcli.parsers.package_map import OUTSIDE, absolute_variables
from mbcli.parsers.spec import SourceLocation, pose

from mbcli.common import child_processes
from mbcli.common.extra_packages import missing_package
from mbcli.math.rotation_array import matrix_from_quaternion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, TypeVar, overload

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.xml_node import Default

    from mbcli.math.array_types import Matrix3, Matrix4, Vector

    Number = TypeVar("Number", bound=float | None)

AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
LONGEST = 300.0  # [s] that USD's library may take
_STRETCHED = 1e-6  # relative, by which directions may be off a right angle before a shape counts as sheared
SMALLEST_UNIT, LARGEST_UNIT = 1e-12, 1e12
_ENCODED = "tn__"  # the start of an encoded name
_SITES = ("NewtonSiteAPI", "MjcSiteAPI")
_PHYSICS = ("physics:", "newton:", "mjc:", "limit:", "drive:", "state:", "physx")


def ask(request: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The answer of usd_process.py. ResourceError if usd-core is not installed."""
    if find_spec("pxr") is None:
        raise missing_package("usd-core", "usd", f"{name}: error: USD")
    variables = {**absolute_variables(), "PXR_WORK_THREAD_LIMIT": "1"}
    try:
        done = child_processes.run(
            child_processes.python("-m", "mbcli.parsers.usd.usd_process"),
            input=json.dumps(request),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST,
            variables=variables,
        )
    except child_processes.TimeoutExpired:
        return {"error": f"USD gave no result within {LONGEST:g} s", "exit_code": 3}
    try:
        return json.loads(done.stdout) | {"said": done.stderr}
    except ValueError:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"error": f"USD's library failed at it: {lines[-1][:300]}", "exit_code": 3}


def read_stage(
    path: str | os.PathLike[str], diagnostics: Diagnostics, packages: PackageMap, name: str, folder: str
) -> Stage | None:
    """The `Stage` of a file, or None after an error. folder: for the arrays of its meshes."""
    if diagnostics.main_file is None:
        diagnostics.main_file = name
    request = {"read": os.path.abspath(path), "folder": folder, "packages": packages.as_dict()}
    answer = ask(request, name)
    if "error" in answer:
        message = answer["error"].replace(os.path.abspath(path), name)
        missing = "URI_OUTSIDE" if OUTSIDE in message else "URI_LOOKUP"
        code = missing if answer["exit_code"] == 4 else "USD_ERROR"
        if code == "USD_ERROR" and not message.startswith(f"{name}:"):  # of a layer that a reference leads to
            message = without_text(message)
        diagnostics.error(code, message, place=SourceLocation(name))
        return None
    diagnostics.quotes_nothing_of(name, (file for file in answer["files"] if file != os.path.abspath(path)))
    for message in answer["missing"]:
        diagnostics.warning("URI_LOOKUP", f"a reference leads nowhere: {message}", place=SourceLocation(name))
    warned = [line for line in answer["said"].splitlines() if line.startswith("Warning")]
    if warned:
        more = f" (and {len(warned) - 1} more)" if len(warned) > 1 else ""
        said = " ".join(warned[0].split())
        diagnostics.warning("USD_WARNING", f"USD warns: {said.rpartition('-- ')[2]}{more}", place=SourceLocation(name))
    return Stage(answer, diagnostics, name, folder)


class Stage:
    """Prims by path, and the units of the file."""

    def __init__(self, document: Mapping[str, Any], diagnostics: Diagnostics, name: str, folder: str) -> None:
        self.diagnostics, self.name, self.folder = diagnostics, name, folder
        self.default: str = document["default"]
        self.files: list[str] = document["files"]
        self.length = self._unit("metersPerUnit", document["meters"])  # [m] of a unit
        self.mass = self._unit("kilogramsPerUnit", document["kilograms"])  # [kg]
        self.up = document["up"]
        # from the axes of the file to those of World, whose z is up
        self.R_WS = np.array(((1.0, 0, 0), (0, 0, -1.0), (0, 1.0, 0))) if self.up == "Y" else np.eye(3)
        self.prims: dict[str, Prim] = {}
        for each in document["prims"]:
            parent = self.prims.get(each["path"].rpartition("/")[0])
            self.prims[each["path"]] = Prim(self, each, parent)

    def _unit(self, name: str, value: Any) -> float:
        """A unit; 1 for one that is an error."""
        unit = float(value)
        if SMALLEST_UNIT <= unit <= LARGEST_UNIT:
            return unit
        problem = f"{name} must be a number from {SMALLEST_UNIT:g} to {LARGEST_UNIT:g}, found {unit:g}"
        self.diagnostics.error("VALUE_RANGE", problem, place=self.place)
        return 1.0

    @property
    def place(self) -> SourceLocation:
        return SourceLocation(self.name)


class Prim:
    """A prim: its values by name, each of which counts as read when it is asked for."""

    def __init__(self, stage: Stage, document: Mapping[str, Any], parent: Prim | None) -> None:
        self.stage, self.parent, self.document = stage, parent, document
        self.path: str = document["path"]
        self.tag: str = document["type"]
        self.apis: list[str] = document["apis"]
        self.attributes: dict[str, Any] = document.get("attributes", {})
        self.relations: dict[str, list[str]] = document.get("relations", {})
        self.unread = {name for name in (*self.attributes, *self.relations) if name.startswith(_PHYSICS)}

    # ------------------------------------------------------------------------------ a node of findings

    @property
    def name(self) -> str:
        """That of the prim, or what it stands for: converters encode names that USD does not have."""
        name, shown = self.path.rpartition("/")[2], self.document["shown"]
        encoded = name.startswith(_ENCODED) or (shown and re.fullmatch(re.escape(shown) + r"_\d+", name))
        return shown if encoded and shown else name

    @property
    def xpath(self) -> str:
        return self.path

    @property
    def place(self) -> SourceLocation:
        return SourceLocation(self.stage.name, prim=self.path)

    def place_of(self, attribute: str | None) -> SourceLocation:
        return self.place

    @property
    def lineage(self) -> Iterator[Prim]:
        prim: Prim | None = self
        while prim is not None:
            yield prim
            prim = prim.parent

    @property
    def diagnostics(self) -> Diagnostics:
        return self.stage.diagnostics

    # -------------------------------------------------------------------------------------- its values

    def has(self, api: str) -> bool:
        return api in self.apis

    @property
    def is_site(self) -> bool:
        """Whether it is a frame, drawn as a shape."""
        return any(map(self.has, _SITES))

    def read(self, name: str, default: Any = None) -> Any:
        """The value of an attribute, as the file has it."""
        self.unread.discard(name)
        return self.attributes.get(name, default)

    def number(self, name: str, default: Number, least: float = -np.inf) -> float | Number:
        """A number that may be infinite; the default after an error."""
        value = self.read(name, default)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value and value >= least:
            return float(value)
        if value is default:
            return default
        rule = f" of {least:g} or more" if least > -np.inf else ""
        return self._refused(name, f"must be a number{rule}, found {_quoted(value)}", default)

    def finite(self, name: str, default: Number, least: float = -np.inf, most: float = np.inf) -> float | Number:
        value: Any = self.number(name, default, least)
        if value is default or (np.isfinite(value) and value <= most):
            return value
        if np.isfinite(value):
            return self._refused(name, f"must be at most {most:g}, found {value:g}", default)
        return self._refused(name, f"must be a finite number, found {value}", default)

    if TYPE_CHECKING:

        @overload
        def vector(self, name: str, count: int, default: None, *, finite: bool = True) -> Vector | None: ...

        @overload
        def vector(self, name: str, count: int, default: Sequence[float], *, finite: bool = True) -> Vector: ...

    def vector(self, name: str, count: int, default: Sequence[float] | None, *, finite: bool = True) -> Vector | None:
        """An array (count,) of floats; the default after an error."""
        value = self.read(name, default)
        if value is default:
            return default if default is None else np.array(default, float)
        try:
            found = np.array(value, float)
        except (TypeError, ValueError):
            found = np.array(np.nan)
        if found.shape == (count,) and not np.isnan(found).any() and (np.isfinite(found).all() or not finite):
            return found
        self._refused(name, f"must be {count} numbers, found {_quoted(value)}", None)
        return default if default is None else np.array(default, float)

    def flag(self, name: str, default: bool) -> bool:
        value = self.read(name, default)
        if isinstance(value, bool) or value in (0, 1):
            return bool(value)
        return self._refused(name, f"must be true or false, found {_quoted(value)}", default)

    def word(self, name: str, known: Sequence[str], default: str) -> str:
        value = self.read(name, default)
        if value in known:
            return value
        return self._refused(name, f"must be one of {', '.join(known)}, found {_quoted(value)}", default)

    def rotation(self, name: str) -> Matrix3:
        """A rotation matrix (3, 3) of a quaternion; identity without one, and for the zero quaternion."""
        wxyz = self.vector(name, 4, (1.0, 0.0, 0.0, 0.0))
        size = np.linalg.norm(wxyz)
        if not 1e-100 < size < 1e100:
            return np.eye(3)
        return matrix_from_quaternion(wxyz / size)

    def targets(self, name: str) -> list[str]:
        self.unread.discard(name)
        return self.relations.get(name, [])

    def target(self, name: str) -> Prim | None:
        """The first prim that a relationship names, or None; one that is not there is an error."""
        targets = self.targets(name)
        if not targets:
            return None
        prim = self.stage.prims.get(targets[0].partition(".")[0])
        if prim is None:
            self._refused(name, f"leads to {targets[0]}, which is not there", None)
        return prim

    def ignore(self, *starts: str) -> None:
        """Counts what begins so as read."""
        self.unread = {name for name in self.unread if not name.startswith(starts)}

    def _refused(self, name: str, problem: str, default: Default) -> Default:
        self.diagnostics.error("ATTRIBUTE_INVALID", f'"{name}" {problem}', self, attribute=name)
        return default

    # ----------------------------------------------------------------------------------------- places

    @property
    def affine(self) -> Matrix4:
        """(4, 4): coordinates [m] in the prim, before its scales, to those in World."""
        R_WS = self.stage.R_WS
        world = np.array(self.document["world"], float)
        result = np.eye(4)
        result[:3, :3] = R_WS @ world[:3, :3]
        result[:3, 3] = R_WS @ world[:3, 3] * self.stage.length
        return result

    def is_seen(self) -> bool:
        return self.document.get("visible", False) and self.document.get("purpose") in ("default", "render")


def split_affine(A: Matrix4) -> tuple[Matrix4, Matrix3] | None:
    """(pose X (4, 4), S (3, 3)) with A = X S about the same origin; S is diagonal unless A is sheared.

    None if A takes space to a plane, or is not finite.
    """
    linear = np.asarray(A)[:3, :3]
    if not np.isfinite(A).all():
        return None
    sizes = np.linalg.norm(linear, axis=0)
    if sizes.min() <= 1e-12 * max(1.0, sizes.max()):
        return None
    R, S = linear / sizes, np.diag(sizes)
    if np.abs(R.T @ R - np.eye(3)).max() > _STRETCHED:
        left, stretches, right = np.linalg.svd(linear)
        R, S = left @ right, right.T @ np.diag(stretches) @ right
    else:
        left, _, right = np.linalg.svd(R)
        if np.abs(R.T @ R - np.eye(3)).max() > 1e-15:
            R = left @ right
    if np.linalg.det(R) < 0.0:
        R, S = -R, -S
    return pose(snapped(R), A[:3, 3]), S


def snapped(R: Matrix3) -> Matrix3:
    """A rotation without the last digits of rounding where it takes axes to axes."""
    plain = np.round(R)
    return plain if np.abs(R - plain).max() < 1e-14 else R


def _quoted(value: object) -> str:
    text = f"{value}"
    return f'"{text[:80]}"' + (" ..." if len(text) > 80 else "")
