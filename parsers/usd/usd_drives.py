"""What moves joints in USD: drives, actuators of Newton and MuJoCo; and joints that follow others."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from mbcli.parsers.duplicate_names import UniqueNames
from mbcli.parsers.spec import ActuatorSpec, MimicSpec
from mbcli.parsers.usd.usd_joints import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mbcli.parsers.spec import JointSpec
    from mbcli.parsers.usd.usd_joints import JointReader
    from mbcli.parsers.usd.usd_stage import Prim, Stage

_OTHER_LAWS = (  # of actuators of Newton, beside NewtonPDControlAPI
    *("NewtonPIDControlAPI", "NewtonNeuralControlAPI", "NewtonActuatorDelayAPI"),
    *("NewtonDCMotorClampingAPI", "NewtonPositionBasedClampingAPI"),
)


class DriveReader:
    """The actuators of a stage; joints that follow others are changed in the reader of joints."""

    def __init__(self, stage: Stage, joints: JointReader) -> None:
        self.stage, self._joints = stage, joints
        self.actuators: list[ActuatorSpec] = []
        self._names = UniqueNames([])

    def read(self) -> None:
        """Fills `actuators`."""
        own: dict[str, list[ActuatorSpec]] = {}  # name of a joint: its actuators of Newton and MuJoCo
        for prim in self.stage.prims.values():
            reader = {"MjcActuator": self._of_mujoco, "NewtonActuator": self._of_newton}.get(prim.tag)
            found = None if reader is None else reader(prim)
            if found is not None:
                own.setdefault(found.joint, []).append(found)
        for path, joints in self._joints.of_prim.items():
            prim = self.stage.prims[path]
            for instance, name in joints.items():
                drive = self._drive(prim, instance, name)
                if name in own:
                    self.actuators += own.pop(name)
                    if drive is not None:
                        message = f'the drive "{instance}" is not used beside an actuator of its own'
                        prim.diagnostics.note("USD_UNUSED", message, prim)
                elif drive is not None:
                    self.actuators.append(drive)
            self._read_mimic(prim, joints)

    def _joint(self, prim: Prim, relation: str) -> JointSpec | None:
        """The JointSpec of one coordinate that an actuator drives; None after a finding."""
        target = prim.target(relation)
        names = {} if target is None else self._joints.of_prim.get(target.path, {})
        joint = self._joints.joints.get(next(iter(names.values()))) if len(names) == 1 else None
        if joint is None or len(joint.axes) != 1:
            prim.diagnostics.warning("USD_UNSUPPORTED", "an actuator of no single joint: it is left out", prim)
            prim.ignore("")
            return None
        return joint

    def _units(self, joint: JointSpec) -> tuple[float, float]:
        """([N m or N], [rad or m]) of units of the file, where angles are radians."""
        slides = joint.kind.slides
        return self._joints.effort_unit(slides), self.stage.length if slides else 1.0

    # ----------------------------------------------------------------------------------------- drives

    def _drive(self, prim: Prim, instance: str, name: str) -> ActuatorSpec | None:
        if not instance or f"PhysicsDriveAPI:{instance}" not in prim.apis:
            return None
        start = f"drive:{instance}:physics:"
        joint = self._joints.joints[name]
        slides = joint.kind.slides
        effort, unit = self._joints.effort_unit(slides), self._joints.unit(slides)
        kp, kd = (prim.finite(start + word, 0.0, 0.0) * effort / unit for word in ("stiffness", "damping"))
        target = prim.finite(start + "targetPosition", 0.0) * unit
        speed = prim.finite(start + "targetVelocity", 0.0) * unit
        most = prim.number(start + "maxForce", inf, 0.0) * effort
        kind = prim.word(start + "type", ("force", "acceleration"), "force")
        if kind == "acceleration" and (kp or kd):
            message = "a drive by accelerations, whose gains are of the masses that it moves: it has no gains here"
            prim.diagnostics.warning("USD_UNSUPPORTED", message, prim)
            kp = kd = 0.0
        servo = bool(kp or kd)
        return ActuatorSpec(
            self._names.of(None, name),
            name,
            prim.place,
            effort_limit=most if most < ENDLESS else inf,
            controller_gains=(kp, kd) if servo else None,
            rest=(target, speed) if servo else None,
        )

    def _of_newton(self, prim: Prim) -> ActuatorSpec | None:
        joint = self._joint(prim, "newton:targets")
        if joint is None:
            return None
        strange = [api for api in prim.apis if api in _OTHER_LAWS]
        if strange or prim.finite("newton:constEffort", 0.0):
            message = f"{', '.join(strange) or 'a constant effort'} of an actuator is not supported: it is left out"
            prim.diagnostics.warning("USD_UNSUPPORTED", message, prim)
            prim.ignore("")
            return None
        effort, unit = self._units(joint)
        gains: Any = tuple(prim.finite(f"newton:{gain}", 0.0, 0.0) * effort / unit for gain in ("kp", "kd"))
        most = prim.number("newton:maxEffort", inf, 0.0) * effort
        servo = any(gains)
        rest = (0.0, 0.0) if servo else None
        name = self._names.of(None, prim.name)
        return ActuatorSpec(name, joint.name, prim.place, most, controller_gains=gains if servo else None, rest=rest)

    def _of_mujoco(self, prim: Prim) -> ActuatorSpec | None:
        """The law of MuJoCo: gain control + b0 + b1 l + b2 ldot, with l the gear times the position."""
        joint = self._joint(prim, "mjc:target")
        if joint is None:
            return None
        effort, unit = self._units(joint)
        gear = _item(prim.read("mjc:gear"), 0, 1.0)
        gain = _item(prim.read("mjc:gainPrm"), 0, 1.0)
        affine = prim.word("mjc:biasType", ("none", "affine", "muscle", "user"), "none")
        bias = [_item(prim.read("mjc:biasPrm"), k, 0.0) for k in range(3)] if affine == "affine" else [0.0] * 3
        kinds = prim.read("mjc:gainType", "fixed"), prim.read("mjc:dynType", "none")
        control, force = (_range(prim, kind) for kind in ("ctrl", "force"))
        strange = kinds[0] != "fixed" or kinds[1] != "none" or affine in ("muscle", "user") or not gear
        if strange or bias[1] > 0.0 or bias[2] > 0.0:
            message = "an actuator of MuJoCo with a law of its own: it is left out"
            prim.diagnostics.warning("USD_UNSUPPORTED", message, prim)
            prim.ignore("mjc:")
            return None
        most = max(map(abs, force))
        servo, rest = bool(bias[1] or bias[2]), None
        if servo:
            b0 = bias[0] + gain * min(max(0.0, control[0]), control[1])
            position = b0 / (-bias[1] * gear) if bias[1] else joint.axes[0].default_position
            rest = position * unit, (0.0 if bias[1] else b0 / (-bias[2] * gear)) * unit
        else:
            most = min(most, abs(gain) * max(map(abs, control)))
        gains: Any = tuple(-b * gear * gear * effort / unit + 0.0 for b in bias[1:]) if servo else None
        return ActuatorSpec(
            self._names.of(None, prim.name),
            joint.name,
            prim.place,
            effort_limit=min(abs(gear) * most * effort, joint.axes[0].effort),
            gear_ratio=gear,
            controller_gains=gains,
            rest=rest,
        )

    # ----------------------------------------------------------------------------------------- mimics

    def _read_mimic(self, prim: Prim, joints: Mapping[str, str]) -> None:
        """Newton's and PhysX's joints that follow others."""
        if prim.has("NewtonMimicAPI"):
            leader = prim.target("newton:mimicJoint")
            offset, factor = prim.finite("newton:mimicCoef0", 0.0), prim.finite("newton:mimicCoef1", 1.0)
            enabled = prim.flag("newton:mimicEnabled", True)
            if enabled and leader is not None:
                self._follow(prim, joints, leader, factor, offset)
        for api in prim.apis:
            if api.startswith("PhysxMimicJointAPI:"):
                start = f"physxMimicJoint:{api.partition(':')[2]}:"
                leader = prim.target(start + "referenceJoint")
                gearing, offset = prim.finite(start + "gearing", 1.0), prim.finite(start + "offset", 0.0)
                prim.ignore(start)
                if leader is not None:
                    self._follow(prim, joints, leader, -gearing, -offset)
        higher = [k for k in "234" if prim.finite(f"mjc:coef{k}", 0.0)]
        if higher:
            message = "a joint that follows another by a polynomial: only the line of it is kept"
            prim.diagnostics.warning("USD_UNSUPPORTED", message, prim)

    def _follow(self, prim: Prim, joints: Mapping[str, str], leader: Prim, factor: float, offset: float) -> None:
        led = self._joints.of_prim.get(leader.path, {})
        if len(joints) != 1 or len(led) != 1 or next(iter(led.values())) == next(iter(joints.values())):
            message = "a joint follows another only if both have one coordinate, and are two"
            prim.diagnostics.error("JOINT_AXIS_MIMIC_INVALID", message, prim)
            return
        joint, other = (self._joints.joints[next(iter(names.values()))] for names in (joints, led))
        if len(joint.axes) != 1 or len(other.axes) != 1:
            message = "a joint follows another only if both have one coordinate"
            prim.diagnostics.error("JOINT_AXIS_MIMIC_INVALID", message, prim)
            return
        slides = joint.kind.slides
        mimic = MimicSpec(other.name, factor, offset * self._joints.unit(slides), prim.place)
        self._joints.joints[joint.name] = replace(joint, axes=(replace(joint.axes[0], mimic=mimic),))


def _item(values: object, index: int, default: float) -> float:
    """A number of an array of the file, which may be short."""
    found = values[index] if isinstance(values, list) and len(values) > index else default
    return float(found) if isinstance(found, (int, float)) else default


def _range(prim: Prim, kind: str) -> tuple[float, float]:
    low, high = (prim.finite(f"mjc:{kind}Range:{end}", 0.0) for end in ("min", "max"))
    limited = prim.read(f"mjc:{kind}Limited", "auto")
    return (low, high) if limited == "true" or (limited == "auto" and low < high) else (-inf, inf)
