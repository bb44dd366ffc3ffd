"""The common parts of the elements of an MJCF file: angles, keywords, poses in all notations, default classes."""

from __future__ import annotations

from dataclasses import field
from math import radians
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mbcli.parsers.angles import check_radians
from mbcli.parsers.colors import color_in_range
from mbcli.parsers.mjcf.mjcf_known import ACTUATORS, READ
from mbcli.parsers.poses import rotation_about, turn_z_to, unit_vector
from mbcli.parsers.spec import IDENTITY, pose
from mbcli.parsers.xml_document import MAX_RELATED

from mbcli.common.fast_dataclass import dataclass
from mbcli.common.suggestions import did_you_mean
from mbcli.math.rotation_array import matrix_from_quaternion

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Mapping, Sequence
    from typing import Protocol, TypeVar, overload

    from mbcli.parsers.colors import Color
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import SourceLocation
    from mbcli.parsers.xml_node import Default, Node

    from mbcli.math.array_types import Matrix3, Matrix4, Vector, Vector3, Vector4

    Word = TypeVar("Word", bound=str | None)

    class Settings(Protocol):
        """What is asked of the CompilerSettings of a file, see mjcf_compiler.py."""

        @property
        def angle(self) -> float: ...
        @property
        def eulerseq(self) -> str: ...
        @property
        def autolimits(self) -> bool: ...
        @property
        def inertiafromgeom(self) -> str: ...
        @property
        def inertiagrouprange(self) -> tuple[float, float]: ...
        @property
        def length_ranges(self) -> LengthRanges: ...
        @property
        def boundmass(self) -> float: ...
        @property
        def boundinertia(self) -> float: ...
        @property
        def balanceinertia(self) -> bool: ...
        @property
        def meshdir(self) -> str: ...
        @property
        def strippath(self) -> bool: ...
        @property
        def fitaabb(self) -> bool: ...

    class Parts(Protocol):
        """What is asked of the Options of a file, see mjcf_options.py."""

        @property
        def gravity(self) -> tuple[float, float, float] | None: ...

        @property
        def time_step(self) -> float | None: ...
        @property
        def idle_groups(self) -> frozenset[int]: ...
        @property
        def margin(self) -> float | None: ...
        @property
        def friction(self) -> tuple[float, ...] | None: ...
        @property
        def softness(self) -> tuple[float, ...] | None: ...
        @property
        def impratio(self) -> float: ...

        def has(self, part: str) -> bool: ...


DEGREE = radians(1.0)
ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
AS_IF_ABSENT = "the model moves as if it were not there"
MAIN = "main"  # the class of elements that name none


@dataclass(frozen=True, slots=True)
class Reading:
    """The settings with which all elements of a file are read."""

    settings: Settings  # CompilerSettings
    options: Parts  # Options
    defaults: DefaultClasses
    unused: Unused
    attached: Mapping[str, Settings] = field(default_factory=dict)  # {path: CompilerSettings of an attached file}
    actuator_nodes: dict[str, Node] = field(default_factory=dict)  # {name: node} of all actuators that have one
    gaps: list[WithDefaults] = field(default_factory=list)  # geoms and pairs that touch at a distance

    def settings_of(self, element: Node | WithDefaults) -> Settings:
        """The CompilerSettings of the file in which an element stands."""
        node: Any = getattr(element, "node", element)
        return self.attached.get(node.document.path, self.settings)


class LengthRanges(NamedTuple):
    """<lengthrange>: which ranges of lengths of actuators are found by the compiler; the rest of it is how."""

    mode: str = "muscle"  # "none": no range is found
    useexisting: bool = True  # ranges that are stated count
    uselimit: bool = False  # those of joints and tendons count


class Unused:
    """Requests of a file that the model does not meet, found while reading; reported once for all that are alike."""

    def __init__(self) -> None:
        # (tag, attribute or None, consequence, whether it is a note) -> [(node, value)]
        self._found: dict[tuple[str, str | None, str, bool], list[tuple[Node, str | None]]] = {}

    def add(self, element: WithDefaults, attribute: str, consequence: str, *, harmless: bool = False) -> None:
        """An attribute of a `WithDefaults` that cannot be followed. harmless: a note tells of it."""
        owner = element.owner(attribute) or element.node
        key = element.tag, attribute, consequence, harmless
        self._found.setdefault(key, []).append((owner, element.attribute(attribute)))

    def add_element(self, node: Node | WithDefaults, consequence: str, *, used: bool = False) -> None:
        """An element that is not used at all, or not as it is meant; consequence: a sentence that begins with its
        kind."""
        own: Any = getattr(node, "node", node)
        if not used:
            own.ignore("settled")
        self._found.setdefault((own.tag, None, consequence, False), []).append((own, None))

    def report(self, diagnostics: Diagnostics) -> None:
        for (tag, attribute, consequence, harmless), found in self._found.items():
            node, value = found[0]
            places = list(dict.fromkeys(other.place for other, _ in found))
            subject = f'attribute "{attribute}" in <{tag}> is not followed: ' if attribute else ""
            (diagnostics.note if harmless else diagnostics.warning)(
                "ATTRIBUTE_UNSUPPORTED" if attribute else "ELEMENT_UNSUPPORTED",
                subject + consequence + (f" ({len(found)} times)" if len(found) > 1 else ""),
                node,
                attribute=attribute,
                value=value,
                related=places[1 : 1 + MAX_RELATED],
            )


class WithDefaults:
    """An element together with its defaults: answers as a `Node`, from itself or else from its class.

    defaults: the nodes in <default> elements that hold for it, the outermost class first; inherited: {attribute: the
    last of them that states it}.
    """

    __slots__ = ("node", "defaults", "_inherited")

    def __init__(self, node: Node, defaults: Sequence[Node] = (), inherited: Mapping[str, Node] | None = None) -> None:
        self.node = node
        self.defaults = defaults
        self._inherited = inherited or {}

    @property
    def diagnostics(self) -> Diagnostics:
        return self.node.diagnostics

    @property
    def place(self) -> SourceLocation:
        return self.node.place

    @property
    def tag(self) -> str:
        return self.node.tag

    def owner(self, name: str) -> Node | None:
        """The node that states an attribute: the element, or a default; None if neither does.

        An empty attribute states nothing, as in MuJoCo.
        """
        text = self.node.attribute(name)
        return self._inherited.get(name) if text is None or not text.strip() else self.node

    if TYPE_CHECKING:

        @overload
        def attribute(self, name: str, default: Default) -> str | Default: ...

        @overload
        def attribute(self, name: str, default: None = None) -> str | None: ...

    def attribute(self, name: str, default: Any = None) -> Any:
        owner = self.owner(name)
        return default if owner is None else owner.attribute(name)

    if TYPE_CHECKING:

        @overload
        def number(self, name: str, default: Default) -> float | Default: ...

        @overload
        def number(self, name: str, default: None = None) -> float | None: ...

    def number(self, name: str, default: Any = None) -> Any:
        owner = self.owner(name)
        return default if owner is None else owner.number(name, default)

    def vector(
        self, name: str, most: int, default: Any = None, *, least: int | None = None, allow_inf: bool = False
    ) -> Any:
        """`least` to `most` numbers (default: exactly `most`). Of fewer than `most` the rest is that of the class."""
        owner = self.owner(name)
        if owner is None:
            return default
        if least is None:
            return owner.vector(name, most, default, allow_inf=allow_inf)
        values: tuple[float, ...] = ()
        for node in (*self.defaults, self.node):
            if (text := node.attribute(name)) is not None:
                count = len(text.split())
                own = node.vector(name, count if least <= count <= most else most, allow_inf=allow_inf)
                values = values if own is None else (*own, *values[len(own) :])
        return values or default

    def keyword(self, name: str, words: Sequence[str], default: Word) -> str | Word:
        """One of some words; the default after an error."""
        owner = self.owner(name)
        return default if owner is None else read_keyword(owner, name, words, default)

    def flag(self, name: str, default: bool | str) -> bool | str:
        """true or false, or "auto" if that is the default."""
        words = ("true", "false", "auto") if default == "auto" else ("true", "false")
        answers: dict[str | None, bool | str] = {"true": True, "false": False}
        return answers.get(self.keyword(name, words, None), default)


class DefaultClasses:
    """The <default> classes of a file, and those of attached files.

    {class: (its <default> nodes, parent class, number of nodes that the parent had when the class began)}: what the
    file states of the outer class later does not hold for it.
    """

    def __init__(self, root: Node, apart: Container[str] = ()) -> None:
        self._apart = apart  # names of classes of attached files that stand in no other
        self.classes: dict[str, tuple[list[Node], str | None, int]] = {MAIN: ([], None, 0)}
        # (class, number of its nodes, tags) -> result of `_defaults`
        self._found: dict[tuple[str | None, int, tuple[str, ...]], tuple[list[Node], dict[str, Node]]] = {}
        pending: list[tuple[Node, str | None]] = [(node, None) for node in reversed(root.children("default"))]
        while pending:
            pending += self._read(*pending.pop())

    def _read(self, node: Node, parent: str | None) -> list[tuple[Node, str]]:
        """Returns its needs of the classes inside, the last first."""
        name = node.attribute("class") or (MAIN if parent is None else None)
        if name is None:
            node.diagnostics.error(
                "ATTRIBUTE_MISSING", '<default> in a <default> must have the attribute "class"', node
            )
            return []
        if parent is None and name != MAIN and name not in self._apart:
            if self.classes[MAIN][0]:
                problem = "the outermost <default> is the class main"
                node.refuse("class", problem, value=name)
            self.classes[name] = self.classes[MAIN]  # another name for it
        if name not in self.classes:
            self.classes[name] = [], parent, 0 if parent is None else len(self.classes[parent][0])
        nodes, known_parent, _ = self.classes[name]
        if known_parent != parent and name != MAIN:
            node.diagnostics.error(
                "DUPLICATE_NAME",
                f'the default class name "{name}" is taken already',
                node,
                attribute="class",
                value=name,
                related=[other.place for other in nodes[:1]],
            )
            return []
        nodes.append(node)
        for child in node.children(*READ):
            for attribute in READ[child.tag]:
                child.attribute(attribute)
        return [(child, name) for child in reversed(node.children("default"))]

    def _defaults(self, class_name: str, tags: tuple[str, ...]) -> tuple[list[Node], dict[str, Node]]:
        """The nodes of some tags that hold for a class, outermost first, and {attribute: the last that states it}."""
        unknown = []  # the class and those that it stands in, from the inside out
        name: str | None = class_name
        count = len(self.classes[class_name][0])
        while name is not None and (name, count, tags) not in self._found:
            unknown.append((name, count))
            _, name, count = self.classes[name]
        inherited, stated = self._found.get((name, count, tags), ([], {}))
        for name, count in reversed(unknown):
            own = [child for node in self.classes[name][0][:count] for child in node.children(*tags)]
            if own:
                inherited, stated = [*inherited, *own], dict(stated)
            for node in own:
                stated |= {key: node for key in READ[node.tag] if node.attribute(key) is not None}
            self._found[name, count, tags] = inherited, stated
        return inherited, stated

    def checked(self, node: Node, attribute: str) -> str | None:
        """The class that an attribute names, or None: there is none, or it does not exist, which is an error."""
        return find_named(node, attribute, "default class", self.classes)

    def of(self, node: Node, childclass: str | None, *tags: str) -> WithDefaults:
        """The element with the defaults of its class, or of the class of the bodies around it, for its tag."""
        name = self.checked(node, "class") or childclass or MAIN
        return WithDefaults(node, *self._defaults(name, tags or (node.tag,)))

    def of_actuator(self, node: Node) -> WithDefaults:
        """An actuator: all kinds share the defaults of a class."""
        return self.of(node, None, *ACTUATORS.split())


def find_named(
    node: Node, attribute: str, what: str, known: Collection[str], *, default: str | None = None
) -> str | None:
    """The name that an attribute states if there is such a thing, the default without it; None after an error."""
    name = node.attribute(attribute, default)
    if name is None or name in known:
        return name
    node.refuse(attribute, f'there is no {what} "{name}"', value=name, hint=did_you_mean(name, known))
    return None


def report_negative(element: WithDefaults, attribute: str, value: float) -> None:
    """An error at an attribute of a `WithDefaults`."""
    element.diagnostics.error(
        "ATTRIBUTE_INVALID",
        f'attribute "{attribute}" of <{element.tag}> must not be negative, found {value!r}',
        element.owner(attribute),
        attribute=attribute,
        value=repr(value),
    )


def read_unsigned(element: WithDefaults, name: str, least: int | None = None) -> float:
    """A number, or the first of at least so many; 0 if it is missing, and after the error of a negative one."""
    value = element.number(name, 0.0) if least is None else element.vector(name, 3, (0.0,), least=least)[0]
    if value < 0:
        report_negative(element, name, value)
        return 0.0
    return value


def read_keyword(node: Node, name: str, words: Sequence[str], default: Word) -> str | Word:
    """One of some words; the default if it is missing, or after an error."""
    value = node.attribute(name, default)
    if value is None or value in words:
        return value
    node.refuse(
        name,
        f'attribute "{name}" of <{node.tag}> must be one of {", ".join(words)}, found "{value}"',
        value=value,
        hint=did_you_mean(value, words),
    )
    return default


# ---------------------------------------------------------------------------------------------- poses


def read_pose(element: Node | WithDefaults, settings: Settings) -> Matrix4:
    """The pose of pos [m] and one of quat, axisangle, euler, xyaxes, zaxis, of a `Node` or a `WithDefaults`."""
    position = element.vector("pos", 3)
    rotation = read_rotation(element, settings)
    return IDENTITY if position is None and rotation is None else pose(rotation, position)


def read_color(element: Node | WithDefaults, default: Color | None = None) -> Color | None:
    """The rgba that an element states, within [0, 1], or default."""
    rgba = element.vector("rgba", 4)
    node: Any = getattr(element, "node", element)
    return default if rgba is None else color_in_range(rgba, node, "rgba")


def read_rotation(element: Node | WithDefaults, settings: Settings) -> Matrix3 | None:
    """The rotation matrix that an element states, or None."""
    node: Any = getattr(element, "node", element)
    own = [name for name in ORIENTATIONS if node.attribute(name) is not None]
    if len(own) > 1:
        problem = f"<{node.tag}> has {' and '.join(own)}: only one of them can hold"
        node.refuse(own[1], problem)
    stated = own or [name for name in ORIENTATIONS if element.attribute(name) is not None]
    if not stated:
        return None
    name = stated[0]
    count, to_matrix = _NOTATIONS[name]
    values = element.vector(name, count)
    if values is None:
        return None
    if settings.angle == 1.0 and name in ("euler", "axisangle"):
        check_radians(values if name == "euler" else values[3:], node, name if own else None)
    matrix = to_matrix(np.array(values), settings)
    if matrix is None:
        node.refuse(name, f'attribute "{name}" of <{node.tag}> has no direction: {element.attribute(name)}')
    return matrix


def _from_quaternion(wxyz: Vector4, settings: Settings) -> Matrix3 | None:
    return matrix_from_quaternion(wxyz / abs(wxyz).max()) if wxyz.any() else None


def _from_axis_angle(values: Vector, settings: Settings) -> Matrix3 | None:
    return rotation_about(values[:3], values[3] * settings.angle) if values[:3].any() else None


def from_euler(angles: Vector3, settings: Settings) -> Matrix3:
    """Small letters turn about the axes as they have come to lie, capitals about those of the parent."""
    R = np.eye(3)
    for letter, angle in zip(settings.eulerseq, angles, strict=True):
        turn = rotation_about(np.eye(3)["xyz".index(letter.lower())], angle * settings.angle)
        R = R @ turn if letter.islower() else turn @ R
    return R


def _from_axes(values: Vector, settings: Settings) -> Matrix3 | None:
    first, second = values[:3], values[3:]
    x, y = unit_vector(first), unit_vector(second)
    if x is None or y is None:
        return None
    y = unit_vector(y - (x @ y) * x)
    if y is None:
        return None
    return np.column_stack([x, y, np.cross(x, y)])


def _from_z(z: Vector3, settings: Settings) -> Matrix3 | None:
    return turn_z_to(z) if z.any() else None


_NOTATIONS: dict[str, tuple[int, Callable[[Vector, Settings], Matrix3 | None]]] = {
    "quat": (4, _from_quaternion),
    "axisangle": (4, _from_axis_angle),
    "euler": (3, from_euler),
    "xyaxes": (6, _from_axes),
    "zaxis": (3, _from_z),
}
