"""<plugin> as Gazebo has it, in SDFormat files and in the <gazebo> elements of URDF.

The kinds are files of mbcli/plugins, which say what of the element they read. A fault in a plugin leaves it out and
is a warning: the file has a robot without it, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.parsers.frame_names import SEPARATOR
from mbcli.parsers.joint_kinds import JOINT_KINDS
from mbcli.parsers.spec import PluginSpec
from mbcli.parsers.xml_node import quoted

from mbcli.common.file_settings import Number, Word
from mbcli.plugins import NOT_HERE, PLUGINS, classic_cure, kind_of, last_name
from mbcli.plugins.settings import Flag, Numbers, Rows, Words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from mbcli.parsers.spec import LinkSpec
    from mbcli.parsers.xml_node import Node

    from mbcli.common.file_settings import Triple
    from mbcli.plugins import PluginKind

ELSEWHERE = "plugins are code of a simulator"
LEFT_OUT = "the plugin does not act"


def plugins_that_act(owner: Node) -> list[Node]:
    """The <plugin>s in an element that have a kind here and stand where it acts; the others are reported."""
    return [node for node in owner.children("plugin") if node.ignored is None and _acts(node, owner)]


def _acts(node: Node, owner: Node) -> bool:
    name = node.attribute("name", "")
    kind, known = kind_of(name, node.attribute("filename", "")), last_name(name)
    if kind is not None:
        place = "world" if PLUGINS[kind].REACH else "model"
        if (owner.tag == "world") == (place == "world"):
            return True
        node.unsupported(f"{known} acts in a {place}")
    elif known in NOT_HERE:
        node.unsupported(f"{known} does not act: {NOT_HERE[known]}")
    elif cure := classic_cure(node.attribute("filename", "")):
        node.unsupported(f"{quoted(node.raw('filename') or '')} does not act: {cure}")
    else:
        node.ignore("foreign", ELSEWHERE)
    return False


def read_plugins(nodes: Iterable[Node], joints: Mapping[str, str], links: Collection[str]) -> tuple[PluginSpec, ...]:
    """The `PluginSpec`s of plugins_that_act().

    joints: {name: type} of the model's joints, those of nested models among them; links: names of its links.
    """
    return _specs_of(nodes, lambda node: _read_plugin(node, joints, links))


def read_world_plugins(
    nodes: Iterable[Node], reached: Mapping[str, Callable[[], Mapping[str, LinkSpec]]]
) -> tuple[PluginSpec, ...]:
    """Likewise those of a world. reached: for each REACH the links that may be meant, by their names in the world."""
    return _specs_of(nodes, lambda node: _read_world_plugin(node, reached))


def _specs_of(nodes: Iterable[Node], read: Callable[[Node], PluginSpec | None]) -> tuple[PluginSpec, ...]:
    specs = []
    for node in nodes:
        with node.diagnostics.leaving_out(node, LEFT_OUT) as faults:
            spec = read(node)
        if faults:
            node.ignore("settled")
        elif spec is not None:
            specs.append(spec)
    return tuple(specs)


def _kind_of(node: Node) -> tuple[str, PluginKind]:
    name = kind_of(node.attribute("name", ""), node.attribute("filename", ""))
    assert name is not None
    return name, PLUGINS[name]


def _read_world_plugin(node: Node, reached: Mapping[str, Callable[[], Mapping[str, LinkSpec]]]) -> PluginSpec | None:
    name, kind = _kind_of(node)
    settings = _settings(node, kind, {})
    links = _chosen(node, settings.get("only"), reached[kind.REACH]())
    if kind.REACH == "solids":
        from mbcli.parsers.solids import solids_of  # late: few worlds have fluids

        solids = {name: found for name, link in links.items() if (found := solids_of(link, node.diagnostics))}
        links = {name: links[name] for name in solids}
        settings["solids"] = tuple(solids.values())
    if not links:
        node.unsupported(f"{kind.CLASSES[0]} reaches no link")
        return None
    return PluginSpec(name, node.place, (), (("link", tuple(links)),), settings)


def _chosen(node: Node, only: Sequence[str] | None, links: Mapping[str, LinkSpec]) -> Mapping[str, LinkSpec]:
    """Links that these names mean, or models that they are in; all without names."""
    if not only:
        return links
    meant: dict[str, LinkSpec] = {}
    for stated in only:
        found = {name: link for name, link in links.items() if f"{name}::".startswith(f"{stated}::")}
        if not found:
            message = f"<plugin> {quoted(node.raw('name') or '')} reaches nothing of the name {quoted(stated)}"
            node.diagnostics.warning("ELEMENT_INVALID", message, node, value=stated)
        meant |= found
    return {name: link for name, link in links.items() if name in meant}


def _read_plugin(node: Node, joints: Mapping[str, str], links: Collection[str]) -> PluginSpec:
    name, kind = _kind_of(node)
    joint_names = _names(node, kind.JOINTS, joints, "joint")
    named = (joint for _, names in joint_names for joint in names)
    for joint in (joint for joint in named if not JOINT_KINDS[joints[joint]].has_one_coordinate):
        message = f"joint {quoted(joint)} is {joints[joint]}: the plugin takes one of one axis"
        node.diagnostics.error("ELEMENT_INVALID", message, node)
    link_names = _names(node, kind.LINKS, dict.fromkeys(links, ""), "link")
    return PluginSpec(name, node.place, joint_names, link_names, _settings(node, kind, dict(joint_names + link_names)))


def _settings(node: Node, kind: PluginKind, named: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """What a kind reads; a finding for all else. named: the joints and links of each role."""
    settings = {rule.setting: _setting(node, path, rule) for path, rule in kind.SETTINGS.items()}
    problem = kind.problem({**settings, **named})
    if problem:
        node.diagnostics.error("ELEMENT_INVALID", f"<plugin> {quoted(node.raw('name') or '')}: {problem}", node)
    _report_rest(node, kind)
    return settings


def _names(
    node: Node, wanted: Mapping[str, tuple[str, str]], known: Mapping[str, str], what: str
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(role, names) of the elements that a plugin names; an error for those that are not there. known: {name: type}."""
    found: dict[str, list[str]] = {}
    for tag, (role, count) in wanted.items():
        children = node.children(tag) if count in ("some", "many", "all") else [node.child(tag)]
        names = [name for child in children if child is not None and (name := child.text(required=True)) is not None]
        if not children and count == "all":
            kinds = ((name, JOINT_KINDS[kind]) for name, kind in known.items())
            names = [name for name, kind in kinds if kind.has_one_coordinate and SEPARATOR not in name]
        found.setdefault(role, []).extend(name for name in names if _is_known(node, tag, name, known, what))
        if not names and count in ("one", "some"):
            node.diagnostics.error("ELEMENT_MISSING", f"<plugin> {quoted(node.raw('name') or '')} has no <{tag}>", node)
    return tuple((role, tuple(names)) for role, names in found.items())


def _is_known(node: Node, tag: str, name: str, known: Collection[str], what: str) -> bool:
    if name in known:
        return True
    message = f"<{tag}> of <plugin>: there is no {what} {quoted(name)} in the model"
    node.diagnostics.error("ELEMENT_INVALID", message, node.child(tag), value=name)
    return False


def _setting(node: Node, path: str, rule: Number | Flag | Word | Words | Numbers | Rows | Triple) -> Any:
    if isinstance(rule, Words):
        return tuple(text for child in node.children(path) if (text := child.text(required=True)) is not None)
    if isinstance(rule, Numbers):
        numbers = [child.text_number(required=True) for child in node.children(path)]
        return tuple(number for number in numbers if number is not None)
    if isinstance(rule, Rows):
        above, _, tag = path.rpartition("/")
        owner = node.child(above) if above else node
        return tuple(_row(each, rule.tags) for each in (owner.children(tag) if owner is not None else ()))
    found: Any = node
    for tag in path.split("/"):
        found = None if found is None else found.child(tag)
    if found is None:
        return rule.words[0] if isinstance(rule, Word) else rule.default
    if isinstance(rule, Flag):
        return found.text_boolean(rule.default)
    if isinstance(rule, Number):
        value = found.text_number(rule.default, required=True)
        wrong = "" if value is None else rule.problem(value)
        if wrong:
            found.diagnostics.error("ELEMENT_INVALID", f"<{found.tag}> {wrong}, found {value!r}", found)
        return value
    if isinstance(rule, Word):
        word = found.text(rule.words[0])
        if word not in rule.words:
            message = f"<{found.tag}> must be {' or '.join(rule.words)}, found {quoted(word)}"
            found.diagnostics.error("ELEMENT_INVALID", message, found, value=word)
        return word
    return found.text_vector(3, rule.default)


def _row(node: Node, tags: Sequence[str]) -> tuple[float, ...]:
    children = [node.child(tag, required=True) for tag in tags]
    numbers = [None if child is None else child.text_number(required=True) for child in children]
    for child in node.child_nodes:
        if child.tag not in tags:
            child.unsupported("the plugin acts without it")
    return tuple(0.0 if number is None else number for number in numbers)


def _report_rest(node: Node, kind: PluginKind, above: str = "") -> None:
    """A finding for each part that nothing has read."""
    paths = kind.SETTINGS.keys() | kind.JOINTS.keys() | kind.LINKS.keys()
    for child in node.child_nodes:
        path = above + child.tag
        if path in kind.ELSEWHERE:
            child.ignore("foreign")
        elif any(known.startswith(f"{path}/") for known in (*paths, *kind.ELSEWHERE)):
            _report_rest(child, kind, f"{path}/")
        elif path not in paths:
            child.unsupported("the plugin acts without it")
