"""What touches what in MJCF files, and by which friction: geoms, <contact>, the filter of parents.

Bodies that are welded together count as one for the filter of parents: they do not touch the bodies that their joints
stand on, unless those are welded to the world. Contact of geoms follows their own attributes, that of a <pair> its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.mjcf.mjcf_options import PAIR_FRICTION
from mbcli.parsers.mjcf.mjcf_softness import STIFFNESS, restitution_of, softness_of
from mbcli.parsers.mjcf.mjcf_values import find_named
from mbcli.parsers.proximity_properties import SOFTNESS
from mbcli.parsers.spec import CollisionFilterGroupSpec, ContactPairSpec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any, Protocol

    from mbcli.parsers.mjcf.mjcf_values import Parts, Reading, WithDefaults
    from mbcli.parsers.spec import JointSpec, LinkSpec
    from mbcli.parsers.xml_node import Node

    class Bodies(Protocol):
        """What is asked of the BodyReader, see mjcf_bodies.py."""

        links: dict[str, LinkSpec]
        joints: dict[str, JointSpec]
        welded: dict[str, tuple[str, list[str]]]

        @property
        def all_links(self) -> Collection[str]: ...
        @property
        def geom_names(self) -> Collection[str]: ...

        def collisions_by_name(self) -> dict[str, tuple[str, int]]: ...


DIMENSIONS = (1, 3, 4, 6)
_GEOM_FRICTION = (1.0, 0.005, 0.0001)
SPINS, ROLLS = 4, 6  # condim from which on contacts resist spinning, rolling
LEAST_FRICTION = 1e-5  # of a contact that does, as MuJoCo has it


# ------------------------------------------------------------------------------------ geoms and pairs


def read_geom_contact(
    element: WithDefaults, reading: Reading, in_pair: bool
) -> tuple[bool, dict[tuple[str, str], Any]]:
    """(whether a geom collides, its proximity properties). in_pair: a <pair> names it."""
    options = reading.options
    masks = [_integer(element, name, 1) for name in ("contype", "conaffinity")]
    friction = (*element.vector("friction", 3, _GEOM_FRICTION, least=1), *_GEOM_FRICTION[1:])[:3]
    condim = _read_dimension(element)
    _check_friction(element, friction[:1] if condim < SPINS else friction)
    margin = _read_margin(element, reading)
    sliding, torsional, rolling = friction if options.friction is None else _taken_apart(options.friction)
    if condim >= SPINS:
        sliding = max(sliding, LEAST_FRICTION)
    properties: dict[tuple[str, str], Any] = {
        ("material", "coulomb_friction"): (sliding, sliding),
        ("material", "torsional_friction"): torsional,
        ("material", "rolling_friction"): rolling,
        ("mujoco", "contype"): masks[0],
        ("mujoco", "conaffinity"): masks[1],
        ("mujoco", "condim"): condim,
        ("mujoco", "priority"): _integer(element, "priority", 0),
        ("mujoco", "margin"): margin if options.margin is None else options.margin / 2.0,
    }
    restitution = restitution_of(element.vector("solref", 2, STIFFNESS)) if element.attribute("solref") else None
    if restitution is not None:
        properties["material", "restitution"] = restitution
    properties |= _softness(element, options)
    return options.has("contact") and (in_pair or any(masks)), properties


def _softness(element: WithDefaults, options: Parts) -> dict[tuple[str, str], Any]:
    """What the law of contact "mujoco" asks for, where the file states it."""
    softness, mix, ratio = softness_of(element, "", options), element.number("solmix", 1.0), options.impratio
    stated: dict[tuple[str, str], Any] = {} if softness is None else {SOFTNESS: softness}
    if mix != 1.0:
        stated["mujoco", "solmix"] = mix
    if ratio != -1.0:
        stated["mujoco", "impratio"] = ratio
    return stated


def _integer(element: WithDefaults, name: str, default: int) -> int:
    value = element.number(name, default)
    if value != int(value):
        element.diagnostics.error(
            "ATTRIBUTE_INVALID",
            f'attribute "{name}" of <{element.tag}> must be a whole number, found "{element.attribute(name)}"',
            element.owner(name),
            attribute=name,
            value=element.attribute(name),
        )
    return int(value)


def _taken_apart(friction: Sequence[float]) -> tuple[float, float, float]:
    """Sliding, torsional and rolling friction of five coefficients."""
    sliding, _, torsional, rolling, _ = friction
    return sliding, torsional, rolling


def _check_friction(element: WithDefaults, friction: Sequence[float]) -> None:
    if min(friction) < 0:
        element.diagnostics.error(
            "ATTRIBUTE_INVALID",
            f"friction must not be negative, found {min(friction)!r}",
            element.owner("friction"),
            attribute="friction",
        )


def _read_margin(element: WithDefaults, reading: Reading) -> float:
    """The margin [m]; a gap, across which adhesion alone acts, is noted."""
    if element.number("gap", 0.0) > 0.0:
        reading.gaps.append(element)
    return element.number("margin", 0.0)


def _read_dimension(element: WithDefaults) -> int:
    """condim."""
    condim = _integer(element, "condim", 3)
    if condim not in DIMENSIONS:
        element.diagnostics.error(
            "ATTRIBUTE_INVALID",
            f'attribute "condim" of <{element.tag}> must be one of 1, 3, 4, 6, found "{element.attribute("condim")}"',
            element.owner("condim"),
            attribute="condim",
            value=element.attribute("condim"),
        )
        return 3
    return condim


def geoms_in_pairs(root: Node) -> set[str | None]:
    """The names of the geoms that <pair>s are about."""
    pairs = [pair for section in root.children("contact") for pair in section.children("pair")]
    return {pair.attribute(name) for pair in pairs for name in ("geom1", "geom2")}


def read_pairs(root: Node, reading: Reading, bodies: Bodies) -> tuple[ContactPairSpec, ...]:
    """The `ContactPairSpec`s of a file."""
    known = bodies.collisions_by_name()
    pairs: dict[tuple[tuple[str, int], tuple[str, int]], ContactPairSpec] = {}
    for section in root.children("contact"):
        for node in section.children("pair"):
            element = reading.defaults.of(node, None)
            names: list[Any] = []
            for attribute in ("geom1", "geom2"):
                node.attribute(attribute, required=True)
                names.append(find_named(node, attribute, "geom", bodies.geom_names))
            friction, across, torsional, rolling, margin = _read_pair(element, reading)
            if None in names or not all(name in known for name in names):
                continue  # an error, or a geom without a shape, which was reported
            first, second = sorted(known[name] for name in names)
            softness = softness_of(element, "", reading.options)
            law = ContactPairSpec(first, second, friction, torsional, rolling, margin, node.place, across, softness)
            pairs[first, second] = law
    return tuple(pairs.values()) if reading.options.has("contact") else ()


def _read_pair(element: WithDefaults, reading: Reading) -> tuple[float, float | None, float, float, float]:
    """Friction, that across its direction if it is another, torsional and rolling friction, margin of a <pair>.

    Geoms have no part in them.
    """
    options = reading.options
    stated = element.vector("friction", 5, (), least=1)
    friction = (*stated, *PAIR_FRICTION[len(stated) :])
    condim = _read_dimension(element)
    _check_friction(element, friction[:1] if condim < SPINS else friction)
    if condim >= ROLLS and friction[3] != friction[4]:
        reading.unused.add(element, "friction", "rolling friction is the same in all directions, the fourth number")
    margin = _read_margin(element, reading)
    if options.friction is not None:
        friction = options.friction
    sliding, across, torsional, rolling, _ = friction
    if condim >= SPINS:
        sliding, across = max(sliding, LEAST_FRICTION), max(across, LEAST_FRICTION)
    return (
        0.0 if condim == 1 else sliding,
        None if condim == 1 or across == sliding else across,
        torsional if condim >= SPINS else 0.0,
        rolling if condim >= ROLLS else 0.0,
        margin if options.margin is None else options.margin,
    )


# -------------------------------------------------------------------------------------------- filters


def read_filter_groups(root: Node, reading: Reading, bodies: Bodies) -> tuple[CollisionFilterGroupSpec, ...]:
    """Bodies that do not touch: those that <exclude> names, and those that the filter of parents keeps apart."""
    return (*_read_excludes(root, bodies), *_parent_groups(reading, bodies))


def _read_excludes(root: Node, bodies: Bodies) -> list[CollisionFilterGroupSpec]:
    """Each pair of bodies that do not collide as two filter groups, of which one ignores the other."""
    groups: list[CollisionFilterGroupSpec] = []
    for section in root.children("contact"):
        for node in section.children("exclude"):
            pair: list[Any] = []
            for attribute in ("body1", "body2"):
                node.attribute(attribute, required=True)
                pair.append(find_named(node, attribute, "body", bodies.all_links))
            if None in pair:
                continue
            name = node.attribute("name") or f"exclude{len(groups) // 2}"
            first, second = f"{name}/{pair[0]}", f"{name}/{pair[1]}"
            groups.append(CollisionFilterGroupSpec(first, (pair[0],), (second,), node.place))
            groups.append(CollisionFilterGroupSpec(second, (pair[1],), (), node.place))
    return groups


def _parent_groups(reading: Reading, bodies: Bodies) -> list[CollisionFilterGroupSpec]:
    """A filter group of each body with those welded to it, that ignores the group which its joints stand on.

    One body on one joint of another needs none: plants keep the two bodies of a joint apart.
    """
    if not reading.options.has("filterparent"):
        return []
    parents = {joint.child: joint.parent for joint in bodies.joints.values()}
    ignores: dict[str, tuple[str, ...]] = {}
    for group, (parent, members) in bodies.welded.items():
        if parent == WORLD:
            continue
        solid, below = (_solid(bodies, names) for names in (members, bodies.welded[parent][1]))
        if solid and below and not (solid == (group,) and below == (parents.get(group),)):
            ignores[group] = (parent,)
            ignores.setdefault(parent, ())
    return [
        CollisionFilterGroupSpec(
            f"filterparent/{group}",
            _solid(bodies, bodies.welded[group][1]),
            tuple(f"filterparent/{parent}" for parent in ignored),
            bodies.links[group].place,
        )
        for group, ignored in ignores.items()
    ]


def _solid(bodies: Bodies, names: Iterable[str]) -> tuple[str, ...]:
    """Those of some bodies that have collisions."""
    return tuple(name for name in names if bodies.links[name].collisions)
