"""The model file of a plant with identified numbers in place of its own: URDF, SDFormat, MJCF."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.identification.findings import Finding
from mbcli.identification.free_parameters import DELAY
from mbcli.identification.unknowns import ARMATURE, COULOMB, INERTIAL, STIFFNESS, VISCOUS
from mbcli.math import RollPitchYaw, RotationMatrix
from mbcli.models.parameter_assignments import matching_parameters
from mbcli.multibody.inertia.inertial_parameters import central_inertia
from mbcli.parsers.checks.link_extent import corners
from mbcli.parsers.xml_edits import Tag, XmlText, numbers, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.identification.identify import Identified
    from mbcli.identification.trajectory import TrajectoryFit
    from mbcli.math.array_types import FloatArray
    from mbcli.models.loaded_model import LoadedModel

ELEMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
FULL = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # of MJCF's fullinertia
KINDS_OF_PATHS = {"damping": VISCOUS, "friction": COULOMB, "armature": ARMATURE, "stiffness": STIFFNESS}
ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")


@dataclass(frozen=True)
class Changes:
    """What becomes of a model file.

    Attributes:
        inertias: (body, its ten parameters). joints: (joint, {kind of parameter: value}).
        geometries: (geometry, friction). actuators: (actuator, {"kp" or "kd": value}).
        others: names of what no file has a place for.
    """

    inertias: list[tuple[Any, FloatArray]] = field(default_factory=list)
    joints: list[tuple[Any, dict[str, float]]] = field(default_factory=list)
    geometries: list[tuple[Any, float]] = field(default_factory=list)
    actuators: list[tuple[Any, dict[str, float]]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def changes_by_efforts(result: Identified, kinds: Sequence[str]) -> Changes:
    """The changes of an identification by efforts; kinds: of kinds_in_file(), the others are only told."""
    subject, changes = result.subject, Changes()
    for k, n in enumerate(subject.links):
        old, new = result.x0[10 * k : 10 * k + 10], result.x_of_file[10 * k : 10 * k + 10]
        if not np.array_equal(old, new):
            changes.inertias.append((subject.plant.elements.bodies[n], new))
    per_joint: dict[int, dict[str, float]] = {}
    for k, p in enumerate(subject.parameters):
        if p.kind != INERTIAL:
            x = result.x_of_file if p.kind in kinds else result.x
            per_joint.setdefault(p.element, {})[p.kind] = float(x[k])
    changes.joints.extend((subject.joint_of[d], values) for d, values in per_joint.items())
    return changes


def changes_by_rollouts(fit: TrajectoryFit, loaded: LoadedModel) -> Changes:
    """The changes of an identification by simulation."""
    changes = Changes([(loaded.plant.elements.bodies[n], pi) for n, pi in fit.inertias.items()])
    joints: dict[Any, dict[str, float]] = {}
    actuators: dict[Any, dict[str, float]] = {}
    for path, value in fit.scalars.items():
        name = path.rpartition(".")[2]
        elements = [] if path == DELAY else matching_parameters(loaded, path)[0][3]
        kind = path.partition(".")[0]
        if kind == "joint" and name in KINDS_OF_PATHS:
            for element in elements:
                joints.setdefault(element, {})[KINDS_OF_PATHS[name]] = value
        elif kind == "actuator" and name in ("kp", "kd"):
            for element in elements:
                actuators.setdefault(element, {})[name] = value
        elif kind == "geometry" and name == "friction":
            changes.geometries.extend((element, value) for element in elements)
        else:
            changes.others.append(path)
    changes.joints.extend(joints.items())
    changes.actuators.extend(actuators.items())
    return changes


def changed_file(changes: Changes, path: str, model_format: str) -> tuple[str, list[Finding]]:
    """The text of a model file with other numbers, and what it has no place for.

    Args:
        path: of the file. model_format: "urdf", "sdf" or "mjcf".

    Raises:
        ModelError: an element that changes is not in this file, or the file is not one that can be changed.
    """
    if path.endswith(".xacro"):
        raise ModelError(f"{path}: error: a xacro file is a program: expand it, and identify what comes of it")
    try:
        with open(path, encoding="utf-8", newline="") as file:
            content = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: error: cannot be changed: {error}") from None
    mark = "\ufeff" if content.startswith("\ufeff") else ""
    text = XmlText(path, content[len(mark) :])
    writer = _writers().get(model_format)
    if writer is None:
        raise ModelError(f"{path}: error: a file of the format {model_format} cannot be changed")
    file_writer = writer(text, path)
    for body, parameters in changes.inertias:
        file_writer.inertia(file_writer.element(body), parameters)
    missing: dict[str, list[str]] = {}
    for joint, values in changes.joints:
        for kind in file_writer.joint(joint, values):
            missing.setdefault(kind, []).append(joint.name())
    for actuator, values in changes.actuators:
        for kind in file_writer.actuator(actuator, values):
            missing.setdefault(kind, []).append(actuator.name())
    for geometry, friction in changes.geometries:
        if not file_writer.friction(geometry, friction):
            missing.setdefault("friction", []).append(geometry.name())
    for name in changes.others:
        missing.setdefault("value", []).append(name)
    findings = [
        Finding("MODEL_PLACE", f"the file has no place for the {kind} of {', '.join(names)}", path)
        for kind, names in missing.items()
    ]
    return mark + text.result(), findings


def volumes_of(loaded: LoadedModel) -> dict[str, float]:
    """[m^3] of the boxes around what is seen of links, by their names; of links with meshes nothing is known."""
    found = {}
    for link in (link for spec in loaded.specs for link in spec.links):
        points = corners(link, {})
        if points is not None:
            found[link.name] = float(np.ptp(points, axis=0).prod())
    return found


def kinds_in_file(model_format: str) -> tuple[str, ...]:
    """The kinds of parameters for which files of a format have a place; all, if they cannot be changed."""
    return _writers().get(model_format, _File).kinds


def _writers() -> dict[str, type[_File]]:
    return {"urdf": _Urdf, "sdf": _Sdf, "mjcf": _Mjcf}


class _File(ABC):
    kinds: tuple[str, ...] = (INERTIAL, VISCOUS, COULOMB, ARMATURE, STIFFNESS)

    def __init__(self, text: XmlText, path: str) -> None:
        self._text, self._path = text, path

    def element(self, of: Any) -> Tag:
        """The element of a body or joint. ModelError if it is in another file."""
        place = of.place
        if place is None or not place.line or os.path.realpath(place.file) != os.path.realpath(self._path):
            where = "" if place is None else f", but in {place.file}"
            raise ModelError(f"{self._path}: error: '{of.name()}' is not in this file{where}: that cannot be changed")
        return self._text.element_at(place.line, place.column)

    @abstractmethod
    def inertia(self, link: Tag, parameters: FloatArray) -> None:
        """Writes the parameters of a link."""

    @abstractmethod
    def joint(self, joint: Any, values: dict[str, float]) -> list[str]:
        """Writes what there is a place for; returns the kinds for which there is none."""

    def actuator(self, actuator: Any, values: dict[str, float]) -> list[str]:
        """The same of the gains of a controller."""
        return list(values)

    def friction(self, geometry: Any, value: float) -> bool:
        """Writes the friction of a geometry, if there is a place for it."""
        return False


class _Urdf(_File):
    kinds = (INERTIAL, VISCOUS, COULOMB)

    def inertia(self, link: Tag, parameters: FloatArray) -> None:
        mass, center, about = central_inertia(parameters)
        inertial = link.child("inertial")
        if inertial is None:
            raise ModelError(f"{self._path}: error: link {link.attributes['name'][0]} has no inertial element")
        origin, weight, inertia = (inertial.child(name) for name in ("origin", "mass", "inertia"))
        if weight is None or inertia is None:
            raise ModelError(f"{self._path}: error: link {link.attributes['name'][0]} has no mass or no inertia")
        R = np.eye(3)
        if origin is None:
            self._text.add_child(inertial, f'<origin xyz="{written(center)}" rpy="0 0 0"/>', first=True)
        else:
            angles = numbers(origin.attributes.get("rpy", ("0 0 0", 0, 0))[0]) or [0.0, 0.0, 0.0]
            R = RollPitchYaw(*angles).ToRotationMatrix().matrix()
            self._text.set_attribute(origin, "xyz", written(center))
        self._text.set_attribute(weight, "value", written([mass]))
        along = R.T @ about @ R
        for name, (i, j) in zip(ELEMENTS, PLACES, strict=True):
            self._text.set_attribute(inertia, name, written([along[i, j]]))

    def joint(self, joint: Any, values: dict[str, float]) -> list[str]:
        missing = [kind for kind in values if kind not in (VISCOUS, COULOMB, ARMATURE)]
        names = {VISCOUS: "damping", COULOMB: "friction"}
        wanted = {names[kind]: value for kind, value in values.items() if kind in names}
        if wanted:
            tag = self.element(joint)
            dynamics = tag.child("dynamics")
            if dynamics is None:
                attributes = " ".join(f'{name}="{written([value])}"' for name, value in wanted.items())
                self._text.add_child(tag, f"<dynamics {attributes}/>")
            else:
                for name, value in wanted.items():
                    self._text.set_attribute(dynamics, name, written([value]))
        if ARMATURE in values and not self._rotor(joint, values[ARMATURE]):
            missing.append(ARMATURE)
        return missing

    def _rotor(self, joint: Any, armature: float) -> bool:
        """Writes the inertia of the rotor of the joint's actuator, where the file states one."""
        for actuator in joint.GetParentPlant().elements.actuators:
            if actuator.joint() is not joint or not actuator.default_rotor_inertia() > 0.0:
                continue
            for tag in self.element(actuator).below():
                if tag.name == "drake:rotor_inertia" and "value" in tag.attributes:
                    rotor = armature / actuator.default_gear_ratio() ** 2
                    self._text.set_attribute(tag, "value", written([rotor]))
                    return True
        return False


class _Sdf(_File):
    kinds = (INERTIAL, VISCOUS, COULOMB, STIFFNESS)

    def inertia(self, link: Tag, parameters: FloatArray) -> None:
        mass, center, about = central_inertia(parameters)
        inertial = link.child("inertial")
        elements = {name: about[i, j] for name, (i, j) in zip(ELEMENTS, PLACES, strict=True)}
        if inertial is None:
            inside = "".join(f"<{name}>{written([value])}</{name}>" for name, value in elements.items())
            self._text.add_child(
                link,
                f"<inertial><pose>{written([*center, 0, 0, 0])}</pose><mass>{written([mass])}</mass>"
                f"<inertia>{inside}</inertia></inertial>",
            )
            return
        pose = inertial.child("pose")
        R = np.eye(3)
        if pose is None:
            if np.abs(center).max() > 0.0:
                self._text.add_child(inertial, f"<pose>{written([*center, 0, 0, 0])}</pose>", first=True)
        else:
            values = numbers(self._text.text_of(pose)) or [0.0] * 6
            special = set(pose.attributes) - {"degrees"}
            if len(values) != 6 or any(pose.attributes[name][0] not in ("", "euler_rpy") for name in special):
                raise ModelError(f"{self._path}: error: a pose of an inertia that is not x y z roll pitch yaw")
            degrees = pose.attributes.get("degrees", ("", 0, 0))[0] in ("true", "1")
            R = RollPitchYaw(*(np.radians(values[3:]) if degrees else values[3:])).ToRotationMatrix().matrix()
            turned = " ".join(self._text.text_of(pose).split()[3:])
            self._text.set_text(pose, f"{written(center)} {turned}")
        along = R.T @ about @ R
        self._set(inertial, "mass", mass)
        inertia = inertial.child("inertia")
        if inertia is None:
            inside = "".join(
                f"<{name}>{written([along[i, j]])}</{name}>" for name, (i, j) in zip(ELEMENTS, PLACES, strict=True)
            )
            self._text.add_child(inertial, f"<inertia>{inside}</inertia>")
            return
        for name, (i, j) in zip(ELEMENTS, PLACES, strict=True):
            self._set(inertia, name, along[i, j])

    def _set(self, tag: Tag, name: str, value: float) -> None:
        child = tag.child(name)
        if child is None:
            self._text.add_child(tag, f"<{name}>{written([value])}</{name}>")
        else:
            self._text.set_text(child, written([value]))

    def joint(self, joint: Any, values: dict[str, float]) -> list[str]:
        names = {VISCOUS: "damping", COULOMB: "friction", STIFFNESS: "spring_stiffness"}
        wanted = {names[kind]: value for kind, value in values.items() if kind in names}
        axis = self.element(joint).child("axis") if wanted else None
        if wanted and axis is None:
            return list(values)
        dynamics = axis.child("dynamics") if axis is not None else None
        if axis is not None and dynamics is None:
            inside = "".join(f"<{name}>{written([value])}</{name}>" for name, value in wanted.items())
            self._text.add_child(axis, f"<dynamics>{inside}</dynamics>")
        elif dynamics is not None:
            for name, value in wanted.items():
                self._set(dynamics, name, value)
        return [kind for kind in values if kind not in names]


class _Mjcf(_File):
    def inertia(self, link: Tag, parameters: FloatArray) -> None:
        mass, center, about = central_inertia(parameters)
        inertial = link.child("inertial")
        full = written([about[i, j] for i, j in FULL])
        if inertial is None:
            self._text.add_child(
                link, f'<inertial pos="{written(center)}" mass="{written([mass])}" fullinertia="{full}"/>', first=True
            )
            return
        self._text.set_attribute(inertial, "pos", written(center))
        self._text.set_attribute(inertial, "mass", written([mass]))
        turned = [name for name in ORIENTATIONS if name in inertial.attributes]
        if turned == ["quat"] and "diaginertia" in inertial.attributes:
            moments, quaternion = _principal(about, inertial.attributes["quat"][0])
            self._text.set_attribute(inertial, "diaginertia", written(moments))
            self._text.set_attribute(inertial, "quat", written(quaternion))
            return
        for name in turned:
            self._text.remove_attribute(inertial, name)
        if "fullinertia" in inertial.attributes:
            self._text.set_attribute(inertial, "fullinertia", full)
        else:
            self._text.rename_attribute(inertial, "diaginertia", "fullinertia", full)

    def joint(self, joint: Any, values: dict[str, float]) -> list[str]:
        names = {VISCOUS: "damping", COULOMB: "frictionloss", ARMATURE: "armature", STIFFNESS: "stiffness"}
        tag = self.element(joint)
        for kind, value in values.items():
            if kind in names:
                self._text.set_attribute(tag, names[kind], written([value]))
        return [kind for kind in values if kind not in names]

    def actuator(self, actuator: Any, values: dict[str, float]) -> list[str]:
        tag = self.element(actuator)
        names = {"position": {"kp": "kp", "kd": "kv"}, "velocity": {"kd": "kv"}}.get(tag.name, {})
        for kind in values.keys() & names.keys():
            self._text.set_attribute(tag, names[kind], written([values[kind]]))
        return [kind for kind in values if kind not in names]

    def friction(self, geometry: Any, value: float) -> bool:
        tag = self.element(geometry)
        _, *others = numbers(tag.attributes["friction"][0]) or [0.0] if "friction" in tag.attributes else [0.0]
        self._text.set_attribute(tag, "friction", written([value, *others]))
        return True


def _principal(inertia: FloatArray, quaternion: str) -> tuple[FloatArray, FloatArray]:
    """Principal moments, and the quaternion of axes that are as near as can be to those of the file."""
    from mbcli.math import Quaternion

    moments, axes = np.linalg.eigh(inertia)
    given = numbers(quaternion) or [1.0, 0.0, 0.0, 0.0]
    R = RotationMatrix(Quaternion(np.array(given) / np.linalg.norm(given))).matrix()
    order: list[int] = []
    for column in R.T:
        rest = [k for k in range(3) if k not in order]
        order.append(max(rest, key=lambda k: abs(float(axes[:, k] @ column))))
    axes, moments = axes[:, order], moments[order]
    axes = axes * np.sign(np.einsum("ij,ij->j", axes, R) + 1e-300)
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] *= -1.0
    return moments, RotationMatrix(axes).ToQuaternion().wxyz()
