"""`mbcli compare POLICY... --task FILE`: what policies get in the same episodes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from mbcli.common.number_text import counted
from mbcli.simulation.control.choices import is_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.cli.options import Options
    from mbcli.environments.policy_scores import Mean, PolicyScore

EPISODES = 20
OF_POLICIES = ("task", "episodes", "seed")
OF_BOTH = ("models", *OF_POLICIES, "as_json", "output_format", "output", "force")


def are_policies(ctx: click.Context, given: Sequence[str], options: Options) -> bool:
    """Whether these files are policies. UsageError for options that do not go with them, or only with them."""
    if not any(map(is_policy, given)):
        for name in OF_POLICIES:
            if getattr(options, name) is not None:
                raise click.UsageError(f"--{name} is for policies, ONNX or TorchScript files")
        return False
    if not all(map(is_policy, given)):
        raise click.UsageError("policies are compared with policies: files with the suffix .onnx, .pt or .ts")
    if options.task is None:
        raise click.UsageError("policies are compared in a task: --task FILE")
    stated = click.core.ParameterSource.COMMANDLINE
    for name in ctx.params:
        if name not in OF_BOTH and ctx.get_parameter_source(name) is stated:
            raise click.UsageError(f"--{name.replace('_', '-')} is not for policies: their task loads its model")
    return True


def compare_policies(given: Sequence[str], options: Options) -> tuple[dict[str, Any], str, bool]:
    """The document, its text, and whether the returns of some policy differ from those of the first."""
    from mbcli.environments.policy_scores import difference, scores
    from mbcli.environments.task_file import read_task

    task = read_task(options.task)
    loaded = task.loaded()
    seed, episodes = options.seed or 0, EPISODES if options.episodes is None else options.episodes
    found = scores(given, options.task, episodes, seed=seed)
    first, *others = found
    differences = [(each.policy, difference(each, first)) for each in others]
    document = {
        "schema": "mbcli/compare-policies",
        "schema_version": 1,
        "model": loaded.description(),
        "task": options.task,
        "seed": seed,
        "episodes": episodes,
        "policies": [score.as_dict() for score in found],
        "differences": [{"policy": name, "than": first.policy, **asdict(mean)} for name, mean in differences],
    }
    differs = any(mean.low > 0.0 or mean.high < 0.0 for _, mean in differences)
    return document, "\n".join(_lines(found, differences, episodes)), differs


def _lines(found: Sequence[PolicyScore], differences: Sequence[tuple[str, Mean]], episodes: int) -> list[str]:
    width = max(len(score.policy) for score in found)
    lines = [f"{'policy'.ljust(width)}  {'return':>24}  {'periods':>8}  ended by the task"]
    for score in found:
        values = score.as_dict()
        returned = in_words(values["return"])
        row = f"{score.policy.ljust(width)}  {returned:>24}  {values['length']['mean']:8.1f}  {values['terminated']}"
        lines.append(f"{row} of {episodes}")
    for name, mean in differences:
        verdict = "differs" if mean.low > 0.0 or mean.high < 0.0 else "no difference that these episodes show"
        lines.append(f"{name} less {found[0].policy}: {in_words(asdict(mean))}: {verdict}")
    lines.append(f"95 % intervals of means over {counted(episodes, 'episode')}, the same for all policies")
    return lines


def in_words(mean: dict[str, float]) -> str:
    """As 3.2 +- 0.4."""
    return f"{mean['mean']:.4g} +- {0.5 * (mean['high'] - mean['low']):.2g}"
