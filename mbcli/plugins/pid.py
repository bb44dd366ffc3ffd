"""The PID controller of Gazebo's plugins of joints: clamped integral term and command (gz-math, gz::math::PID)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.file_settings import Number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray


def gains(p: float, i: float, d: float, prefix: str = "") -> dict[str, Number]:
    """SETTINGS of a controller with these defaults."""
    defaults = {"p_gain": p, "i_gain": i, "d_gain": d, "i_max": 1.0, "i_min": -1.0, "cmd_max": 1e3, "cmd_min": -1e3}
    return {prefix + name: Number(name, value) for name, value in (defaults | {"cmd_offset": 0.0}).items()}


def effort(settings: dict[str, Any], error: float, rate: float, period: float, memory: FloatArray) -> float:
    """[N m or N] of an error (what is less what should be) and its rate; memory (1,): the integral term.

    As there, an i_max below i_min does not bound the integral, a cmd_max below cmd_min not the effort.
    """
    memory[0] += settings["i_gain"] * period * error
    if settings["i_min"] <= settings["i_max"]:
        memory[0] = min(max(memory[0], settings["i_min"]), settings["i_max"])
    command = settings["cmd_offset"] - settings["p_gain"] * error - memory[0] - settings["d_gain"] * rate
    if settings["cmd_min"] <= settings["cmd_max"]:
        command = min(max(command, settings["cmd_min"]), settings["cmd_max"])
    return float(command)
