"""A context as text, in the form of pydrake's: the time, the state and the parameters of a system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def text_of(context: Any, path: str) -> str:
    """Of the context of one system. path: its name after those of the diagrams that it is part of."""
    lines = [*_head(f"{path} Context"), f"Time: {_number(context.get_time())}"]
    x = context.get_continuous_state_vector().CopyToVector() if context.num_continuous_states() else ()
    groups = [group.CopyToVector() for group in _groups(context)]
    states = [f"  {len(x)} continuous states", f"    {_row(x)}"] if len(x) else []
    states += [f"  {len(groups)} discrete state groups with"] if groups else []
    for group in groups:
        states += [f"     {len(group)} states", f"       {_row(group)}"]
    if context.num_abstract_states():
        states.append(f"  {context.num_abstract_states()} abstract states")
    lines += ["States:", *states, ""] if states else []
    number, others = context.num_numeric_parameter_groups(), context.num_abstract_parameters()
    parameters = [f"  {number} numeric parameter groups with"] if number else []
    for k in range(number):
        values = context.get_numeric_parameter(k).CopyToVector()
        parameters += [f"     {len(values)} parameters", f"       {_row(values)}"]
    parameters += [f"  {others} abstract parameters"] if others else []
    lines += ["Parameters:", *parameters] if parameters else []
    return "\n".join(lines) + "\n"


def text_of_diagram(context: Any, path: str, parts: Iterable[tuple[str, Any]]) -> str:
    """Of the context of a diagram. parts: names and contexts of its systems; those without numbers are left out."""
    lines = _head(f"{path} Context (of a Diagram)")
    if context.num_continuous_states():
        lines.append(f"{context.num_continuous_states()} total continuous states")
    groups = context.num_discrete_state_groups()
    if groups:
        total = sum(group.size() for group in _groups(context))
        lines.append(f"{total} total discrete states in {groups} groups")
    groups = context.num_numeric_parameter_groups()
    if groups:
        total = sum(context.get_numeric_parameter(k).size() for k in range(groups))
        lines.append(f"{total} total numeric parameters in {groups} groups")
    found = "\n".join(lines) + "\n\n"
    for name, part in parts:
        states = part.num_total_states() or part.num_discrete_state_groups() or part.num_abstract_states()
        if states or part.num_numeric_parameter_groups():
            inner = part.text(f"{path}::{name}")
            found += f"{inner}\n"
    return found.removesuffix("\n")


def _head(title: str) -> list[str]:
    return [title, "-" * (len(title.encode()) + 1)]


def _row(numbers: Any) -> str:
    texts = [_number(x) for x in numbers]
    width = max(map(len, texts), default=0)
    return " ".join(text.rjust(width) for text in texts)


def _number(x: Any) -> str:
    return str(x).removesuffix(".0") if isinstance(x, float) else str(x)


def _groups(context: Any) -> list[Any]:
    values = context.get_discrete_state()
    return [values.get_vector(k) for k in range(values.num_groups())]
