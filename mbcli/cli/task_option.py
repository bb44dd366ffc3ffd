"""`--task` of `mbcli simulate`: how a task file loads a model and where it starts, as far as options do not say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.options import AT_START, usage_errors
from mbcli.cli.output import tell, warn
from mbcli.simulation.control.choices import is_policy

if TYPE_CHECKING:
    from mbcli.environments.policy import Policy
    from mbcli.math.array_types import BoolArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

PARAMETERS = {  # {key of `load` of a task file: parameter of `simulate` of the same meaning}
    "contact": "no_contact",
    "contact_approximation": "contact_approximation",
    "ground": "ground",
    "dt": "time_step",
    "hold": "posture",
    "kp": "kp",
    "kd": "kd",
    "self_contact": "self_contact",
    "weld": "welds",
    "weld_base": "weld_base",
    "actuators": "actuators",
}
WITH_CONTACT = ("ground", "contact_model", "contact_approximation")


def take_task(ctx: click.Context, values: dict[str, Any], quiet: bool) -> Policy | None:
    """The policy of --controller with the task of --task, None without one; changes values of options not given.

    UsageError for one option without the other.
    """
    if values["task"] is None:
        return None
    if not is_policy(values["controller"]):
        raise click.UsageError("--task is of a policy: --controller POLICY.onnx")
    for name in ("rate", "limit", "pickle"):
        if values[f"controller_{name}"]:
            raise click.UsageError(f"--controller-{name} is not for a policy, which acts as its task says")
    from mbcli.environments.policy import Policy
    from mbcli.environments.task_file import TaskFile

    with usage_errors():
        policy = Policy(values["controller"], values["task"])
    file = policy.task
    assert isinstance(file, TaskFile)
    if not values["models"] and values["scenario_file"] is None and file.model is not None:
        values["models"] = (str(file.model),)
    given = {name for name in values if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE}
    load = {"contact": False, **file.load}
    if given & {*WITH_CONTACT}:
        del load["contact"]
    for key, value in load.items():
        if PARAMETERS[key] not in given:
            values[PARAMETERS[key]] = _as_option(key, value)
    if not quiet:
        _tell_what_is_left_out(file)
    return policy


def _as_option(key: str, value: Any) -> Any:
    if key == "contact":
        return not value
    if key == "hold":
        return AT_START if value else None
    return value


def _tell_what_is_left_out(file: Any) -> None:
    if file.states("event"):
        warn(f"{file.name}: events act in environments alone; --push pushes")
    if file.settings.parameters:
        tell(f"mbcli: {file.name}: parameters are as the model has them, not drawn; --set sets them")


def place_by_task(policy: Policy, loaded: LoadedModel, seed: int, plant: MultibodyPlant, context: Context) -> BoolArray:
    """Puts the start of the first episode of this seed into the context; the mask (nq,) of what it states: all."""
    import numpy as np

    q, v = policy.start(loaded, seed)
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    return np.ones(plant.num_positions(), dtype=bool)
