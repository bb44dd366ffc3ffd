"""LiftDrag: lift and drag of a surface in the air, linear in the angle of attack up to the stall and beyond it.

lift = C_L q A, drag = C_D q A with q = rho v^2 / 2 and v the part of the velocity in the plane of lift and drag, at the
centre of pressure. Slopes are per radian: `cla` up to `alpha_stall`, `cla_stall` beyond; a joint adds to C_L.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number, Triple
from mbcli.plugins.settings import Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray, Matrix3, Vector3

TITLE = "lift and drag of a surface in the air"
CLASSES = ("LiftDrag",)
FILES = ("LiftDragPlugin",)
GIVES = ""
JOINTS = {"control_joint_name": ("control", "any")}
LINKS = {"link_name": ("link", "one")}
SETTINGS = {
    "a0": Number("alpha0", 0.0),
    "cla": Number("cla", 1.0),
    "cda": Number("cda", 0.01),
    "alpha_stall": Number("stall", math.pi / 2.0, 0.0),
    "cla_stall": Number("cla_stall", 0.0),
    "cda_stall": Number("cda_stall", 1.0),
    "area": Number("area", 1.0, 0.0),
    "air_density": Number("density", 1.2041, 0.0),
    "cp": Triple("cp", (0.0, 0.0, 0.0)),
    "forward": Triple("forward", (1.0, 0.0, 0.0)),
    "upward": Triple("upward", (0.0, 0.0, 1.0)),
    "radial_symmetry": Flag("radial", False),
    "control_joint_rad_to_cl": Number("control_to_cl", 4.0),
}
ELSEWHERE = ("cma", "cma_stall")
SLOWEST = 0.01  # [m/s] below which nothing acts


def problem(settings: dict[str, Any]) -> str:
    """Forward and upward span a plane."""
    forward, upward = np.array(settings["forward"]), np.array(settings["upward"])
    if not np.linalg.norm(np.cross(forward, upward)) > 1e-9 * np.linalg.norm(forward) * np.linalg.norm(upward):
        return "<forward> and <upward> are along one line"
    return ""


class Law:
    """It remembers nothing."""

    def __init__(self, plugin: Any) -> None:
        self._settings = s = plugin.settings
        (self._link,) = plugin.links["link"]
        self._control = plugin.joints["control"]
        self._cp, self._forward, self._upward = np.array(s["cp"]), _unit(s["forward"]), _unit(s["upward"])
        self.inputs: tuple[Any, ...] = ()
        self.driven: tuple[Any, ...] = ()
        self.pushed = (self._link,)
        self.memory = np.zeros(0)

    def gives(self, now: Any) -> str:
        """Drag is against the velocity and lift across it, where the air rests."""
        return "the air moves" if now.wind.any() else ""

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """Nothing where the surface moves backwards, as there."""
        velocity = now.velocity_of(self._link, self._cp) - now.wind
        R = now.rotation(self._link)
        forward = R @ self._forward
        if np.linalg.norm(velocity) <= SLOWEST or forward @ velocity <= 0.0:
            return
        upward = R @ self._upward
        if self._settings["radial"]:
            side = np.cross(forward, velocity)
            if np.linalg.norm(side) <= 1e-9 * np.linalg.norm(velocity):
                upward = R @ self._upward  # straight ahead: no side is special
            else:
                upward = _unit(np.cross(forward, side))
        control = now.position(self._control[0]) if self._control else 0.0
        force, slope = self._force(velocity, forward, upward, control)
        now.force(self._link, force, self._cp, slope)

    def _force(self, velocity: Vector3, forward: Vector3, upward: Vector3, control: float) -> tuple[Vector3, Matrix3]:
        """The force and by how much it falls with the velocity: drag along it, lift across it."""
        s = self._settings
        span = _unit(np.cross(forward, upward))
        sine = float(np.clip(span @ _unit(velocity), -1.0, 1.0))
        sweep = 1.0 - sine * sine  # the square of the cosine: of what of the dynamic pressure is across the edge
        in_plane = velocity - (velocity @ span) * span
        speed = float(np.linalg.norm(in_plane))
        if speed <= SLOWEST:
            return np.zeros(3), np.zeros((3, 3))
        lift = _unit(np.cross(span, in_plane))
        turned = math.acos(float(np.clip(lift @ upward, -1.0, 1.0)))
        alpha = s["alpha0"] + (turned if lift @ forward >= 0.0 else -turned)
        while abs(alpha) > 0.5 * math.pi:
            alpha -= math.copysign(math.pi, alpha)
        c_lift = _coefficient(alpha, s["stall"], s["cla"], s["cla_stall"]) * sweep
        if abs(alpha) > s["stall"] and c_lift * alpha < 0.0:
            c_lift = 0.0  # beyond the stall it ends at zero
        c_lift += s["control_to_cl"] * control
        c_drag = abs(_coefficient(alpha, s["stall"], s["cda"], s["cda_stall"])) * sweep
        pressed = 0.5 * s["density"] * speed * speed * s["area"]
        along = in_plane / speed
        slope = 2.0 * c_drag * np.outer(along, along)
        if abs(alpha) <= s["stall"]:
            slope += max(s["cla"], 0.0) * sweep * np.outer(lift, lift)
        return pressed * (c_lift * lift - c_drag * along), pressed / speed * slope


def _coefficient(alpha: float, stall: float, slope: float, beyond: float) -> float:
    """Odd in the angle [rad]: of one slope up to the stall, and of another one from there."""
    if abs(alpha) <= stall:
        return slope * alpha
    return math.copysign(1.0, alpha) * (slope * stall + beyond * (abs(alpha) - stall))


def _unit(vector: Any) -> Vector3:
    return np.array(vector) / np.linalg.norm(vector)
