"""Plans and control files as `--controller` of `mbcli simulate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.simulation.control.choices import is_control_file, is_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.optimal_control.control_file import ControlFile
    from mbcli.simulation.control.run_controller import ControllerSource

OPTIONS = {
    "contact_approximation": "--contact-approximation",
    "ground": "--ground",
    "dt": "--time-step",
    "self_contact": "--self-contact",
    "actuators": "--actuators",
}  # {key of `load`: option of `simulate` of the same value}


def take_plan(values: dict[str, Any]) -> ControllerSource | None:
    """The controller of a plan, or of a control file, that --controller names; None for others.

    UsageError for options that do not go with it; ModelError and ResourceError of the file.
    """
    given = values["controller"]
    if not (is_plan(given) or is_control_file(given)):
        return None
    for name in ("rate", "limit", "pickle"):
        if values[f"controller_{name}"]:
            raise click.UsageError(f"--controller-{name} is not for a plan, which acts at its own times")
    from mbcli.optimal_control.feedback import PlanFeedback, PredictiveControl

    return PlanFeedback(given) if is_plan(given) else PredictiveControl(given)


def words_of_run(file: ControlFile, model: str | None, stated: Mapping[str, float], log: str) -> list[str]:
    """The command whose run has the start, model and steps of a plan, under the feedback that its log has."""
    load = {"contact": False, **file.load}
    words = [] if load["contact"] else ["--no-contact"]
    words += [f"{option}={load[key]!r}" for key, option in OPTIONS.items() if isinstance(load.get(key), float)]
    words += [f"{option}={load[key]}" for key, option in OPTIONS.items() if isinstance(load.get(key), str)]
    words += [f"--weld={name}" for name in load.get("weld", ())]
    words += ["--weld-base"] if load.get("weld_base") else []
    words += [] if file.settings.pose is None else [f"--pose={file.settings.pose}"]
    words += [f"--at={name}={value!r}" for name, value in stated.items()]
    words += [f"--duration={file.settings.horizon!r}", "--log-rate=0.0", "--fields=u,effort,energy"]
    name = str(file.model) if model is None else model
    return ["mbcli", "simulate", *words, f"--controller={log}", "--", name]
