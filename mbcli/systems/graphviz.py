"""Systems as graphs in the language of Graphviz."""

from __future__ import annotations

from typing import Any


def graphviz_of(system: Any, max_depth: int | None = None) -> str:
    """A system with its ports, its parts down to a depth, and their connections."""
    depth = 1_000_000 if max_depth is None else max_depth
    lines = ["digraph {", "rankdir=LR"]
    _add(lines, system, depth)
    return "\n".join([*lines, "}"]) + "\n"


def _node(system: Any) -> str:
    return f"s{id(system)}"


def _add(lines: list[str], system: Any, depth: int) -> None:
    name = system.get_name() or type(system).__name__
    if hasattr(system, "GetSystems") and depth > 0:
        lines += [f"subgraph cluster{id(system)} {{", f'label="{name}"', f'{_node(system)} [shape=point, label=""]']
        for part in system.GetSystems():
            _add(lines, part, depth - 1)
        lines.append("}")
        for source, target in system.connections():
            lines.append(f"{_place(source, 'y', depth)} -> {_place(target, 'u', depth)}")
        return
    inputs, outputs = system.input_ports(), system.output_ports()
    left = "|".join(f"<u{k}>{port.get_name()}" for k, port in enumerate(inputs))
    right = "|".join(f"<y{k}>{port.get_name()}" for k, port in enumerate(outputs))
    lines.append(f'{_node(system)} [shape=record, label="{name}|{{{{{left}}}|{{{right}}}}}"]')


def _place(port: Any, letter: str, depth: int) -> str:
    while depth > 1 and hasattr(port, "inner"):  # those of diagrams that are drawn with their parts
        port, depth = port.inner, depth - 1
    return f"{_node(port.get_system())}:{letter}{int(port.get_index())}"
