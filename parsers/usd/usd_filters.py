"""What may touch in USD: filtered pairs, groups of colliders, articulations without contact of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.spec import CollisionFilterGroupSpec

if TYPE_CHECKING:
    from mbcli.parsers.usd.usd_joints import JointReader
    from mbcli.parsers.usd.usd_links import LinkReader
    from mbcli.parsers.usd.usd_stage import Prim, Stage

_OFF = ("newton:selfCollisionEnabled", "physxArticulation:enabledSelfCollisions")


class FilterReader:
    """The filter groups of a stage: two for each pair of links, one for each articulation."""

    def __init__(self, stage: Stage, links: LinkReader, joints: JointReader) -> None:
        self.stage, self._links, self._joints = stage, links, joints
        self.groups: list[CollisionFilterGroupSpec] = []
        self._pairs: set[frozenset[str]] = set()

    def read(self) -> None:
        """Fills `groups`."""
        for prim in self.stage.prims.values():
            for path in prim.targets("physics:filteredPairs"):
                other = self.stage.prims.get(path)
                if other is None:
                    message = f"filteredPairs leads to {path}, which is not there"
                    prim.diagnostics.warning("USD_UNSUPPORTED", message, prim)
                else:
                    self._keep_apart(prim, other)
            off = [name for name in _OFF if not prim.flag(name, True)]
            if off:
                self._add_articulation(prim)
        self._read_groups()

    def _keep_apart(self, prim: Prim, other: Prim) -> None:
        for one in self._members(prim):
            for two in self._members(other):
                pair = frozenset((one, two))
                if len(pair) == 2 and pair not in self._pairs:
                    self._pairs.add(pair)
                    names = [f"filtered_{len(self._pairs)}_{end}" for end in "ab"]
                    self.groups.append(CollisionFilterGroupSpec(names[0], (one,), (names[1],), prim.place))
                    self.groups.append(CollisionFilterGroupSpec(names[1], (two,), (), prim.place))

    def _members(self, prim: Prim) -> list[str]:
        """Links whose shapes are at a prim, or below it."""
        if prim.path in self._links.colliders:
            link, shapes = self._links.colliders[prim.path]
            if len(self._links.links[link].collisions) > len(shapes):
                message = f'a filter of one of several shapes of "{link}" is one of the whole link'
                prim.diagnostics.warning("USD_UNSUPPORTED", message, prim)
            return [link]
        own = [self._links.bodies[prim.path]] if prim.path in self._links.bodies else []
        start = prim.path + "/"
        return own or [name for path, name in self._links.bodies.items() if path.startswith(start)]

    def _add_articulation(self, root: Prim) -> None:
        """Links that joints connect with those at or below a root, World left out."""
        found = set(self._members(root))
        start = root.path + "/"
        for path, names in self._joints.of_prim.items():
            if path == root.path or path.startswith(start):
                for name in names.values():
                    found |= {self._joints.joints[name].parent, self._joints.joints[name].child}
        found.discard(WORLD)
        grown = True
        while grown:
            count = len(found)
            for joint in self._joints.joints.values():
                ends = {joint.parent, joint.child}
                if ends & found and WORLD not in ends:
                    found |= ends
            grown = len(found) > count
        members = tuple(name for name in self._links.links if name in found and self._links.links[name].collisions)
        if len(members) > 1:
            name = f"articulation_{len(self.groups) + 1}"
            self.groups.append(CollisionFilterGroupSpec(name, members, (name,), root.place))

    def _read_groups(self) -> None:
        groups = {prim.path: prim for prim in self.stage.prims.values() if prim.tag == "PhysicsCollisionGroup"}
        members = {}
        for path, prim in groups.items():
            found: list[str] = []
            for target in prim.targets("collection:colliders:includes"):
                start = target + "/"
                found += [link for p, (link, _) in self._links.colliders.items() if p == target or p.startswith(start)]
            members[path] = tuple(dict.fromkeys(found))
            if prim.flag("physics:invertFilteredGroups", False):
                message = "a collision group whose filter is inverted: it is left out"
                prim.diagnostics.warning("USD_UNSUPPORTED", message, prim)
                members[path] = ()
        for path, prim in groups.items():
            ignored = [target for target in prim.targets("physics:filteredGroups") if target in groups]
            if members[path]:
                names = tuple(f"group{target}" for target in ignored if members[target])
                spec = CollisionFilterGroupSpec(f"group{path}", members[path], names, prim.place)
                self.groups.append(spec)
