"""Terms of files: whether their keys are those of their function, and the values of these in a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from mbcli.common.suggestions import did_you_mean
from mbcli.config.config_fields import ValueProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.environments.term_registry import Term
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.yaml_source import YamlNode

    Extra: TypeAlias = Mapping[str, tuple[str, bool]]


def terms_of(section: str, node: YamlNode | None) -> list[YamlNode]:
    """The nodes of the terms of a section: an action is one, the others are lists."""
    if node is None:
        return []
    return [node] if section == "action" else list(node)


def check_section(
    section: str, node: YamlNode, registry: Mapping[str, Term], extra: Extra, diagnostics: Diagnostics
) -> None:
    """Reports terms of a section that there are not, and keys that are unknown or missing.

    extra: {key that all of its terms may have: (its kind, whether it must be there)}.
    """
    if section != "action" and (node.kind != "sequence" or not len(node)):
        message = f"{section} is a list of terms; found {node.describe()}"
        diagnostics.error("VALUE_TYPE", message, place=node.place, attribute=section)
        return
    for item in terms_of(section, node):
        _check_term(section, item, registry, extra, diagnostics)


def _check_term(
    section: str, item: YamlNode, registry: Mapping[str, Term], extra: Extra, diagnostics: Diagnostics
) -> None:
    """Reports a term that there is not, and keys that are unknown or missing."""
    name = item.get("term")
    if item.kind != "mapping" or name is None:
        message = f'{section}: a term is a mapping with the key "term"; found {item.describe()}'
        hint = f"there are {', '.join(registry)}"
        diagnostics.error("KEY_MISSING", message, place=item.place, attribute="term", hint=hint)
        return
    term = registry.get(name.value) if isinstance(name.value, str) else None
    if term is None:
        likely = did_you_mean(name.value, list(registry)) or f"there are {', '.join(registry)}"
        message = f'unknown term "{name.text if name.text is not None else name.describe()}" of {section}'
        diagnostics.error("VALUE_CHOICE", message, place=name.place, attribute="term", hint=likely)
        return
    known = {"term": True, **{key: parameter.is_required for key, parameter in term.parameters.items()}}
    known |= {key: is_required for key, (_, is_required) in extra.items()}
    for key, _ in item.items():
        if key not in known:
            message = f'unknown key "{key}" of the term {name.value}'
            hint = did_you_mean(key, list(known)) or f"its keys are {', '.join(known)}"
            diagnostics.error("KEY_UNKNOWN", message, place=item.key_place(key), attribute=key, hint=hint)
    for key, is_required in known.items():
        if is_required and item.get(key) is None:
            message = f'key "{key}" of the term {name.value} is missing'
            diagnostics.error("KEY_MISSING", message, place=item.place, attribute=key)


def read_values(
    item: YamlNode,
    term: Term,
    extra: Extra,
    kinds: Mapping[str, Callable[[Any, Any], Any]],
    worlds: Any,
    diagnostics: Diagnostics,
) -> dict[str, Any]:
    """{key: value} of a term that was checked; values that do not fit the model are reported.

    worlds: has the model, as `plant`, and what else the readers of `kinds` ask for.
    """
    values = {}
    for key, child in item.items():
        if key == "term":
            continue
        kind = extra[key][0] if key in extra else term.parameters[key].kind
        try:
            values[key] = kinds[kind](child, worlds)
        except ValueProblem as problem:
            joint = "" if str(problem).startswith(":") else " "
            message = f"{item.value['term'].value}: {key}{joint}{problem}"
            diagnostics.error(problem.code, message, place=child.place, attribute=key, hint=problem.hint)
    return values
