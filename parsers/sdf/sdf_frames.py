"""The frames of an SDFormat file and their poses, without any XML.

Every link, joint and frame has a name, and so have each model's own frame (`__model__` inside, the model's name
outside) and the world. Two relations connect them, each one arrow from a name to another:

- attached_to: the frame moves with that one; following the arrows ends at a link, or at the world;
- relative_to: the frame's pose is given in that one; following the arrows ends at the world.

The arrows may point forward in the file, so a `FrameGraph` is filled first, with the names of all nested models
under their full names (`arm::hand::palm`), and then resolved as a whole. A `FrameScope` is the view of one model of
it: references look only into their own scope or down from it.

Frame semantics: http://sdformat.org/tutorials?tut=pose_frame_semantics
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.cycles import order_by_arrow
from mbcli.parsers.frame_names import MODEL, SEPARATOR, WORLD
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.spec import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, KeysView
    from typing import Any

    from mbcli.math.array_types import Matrix4

LONGEST_WALK = 16  # arrows that a relative pose is put together from, rather than from two poses in the world


@dataclass(frozen=True, slots=True)
class FrameFault:
    """A fault of a graph, and the element that has it."""

    frame: str  # full name of the frame whose element is to blame
    code: str  # libsdformat's name of the error
    message: str
    unknown: str | None = None  # the name that nothing has, as its scope knows it


@dataclass(frozen=True, slots=True)
class _Frame:
    kind: str  # "model", "world", "link", "joint" or "frame"
    attached_to: str | None  # None: the frame of a link, or the world
    relative_to: str | None  # None: the world
    X: np.ndarray  # pose in relative_to
    prefix: str = ""  # of the scope that its references are written in


# by the kind of the frame whose arrow points to a name that is not there
_UNKNOWN_ATTACHED_TO = {
    "model": ("MODEL_CANONICAL_LINK_INVALID", 'the canonical link "{target}" is not a link of the model'),
    "joint": ("JOINT_CHILD_LINK_INVALID", 'the child "{target}" of joint "{name}" is not in the model'),
    "frame": (
        "FRAME_ATTACHED_TO_INVALID",
        'frame "{name}" is attached to "{target}", which is not in the model',
    ),
}
_UNKNOWN_POSE = (
    "POSE_RELATIVE_TO_INVALID",
    'the pose of {kind} "{name}" is relative to "{target}", which is not in the model',
)


class FrameGraph:
    """The frames of a file by their full names: filled by way of scopes, then resolved, then asked.

    The answers about a frame that `resolve` found a fault with are None or the identity.
    """

    def __init__(self) -> None:
        self._frames = {WORLD: _Frame("world", None, None, IDENTITY)}
        self._canonical: dict[str, str] = {}  # model: the link that its file names as canonical
        self._faults: list[FrameFault] = []
        self._link_of: dict[str, str] = {}
        self._depth: dict[str, int] = {}
        self._X_WF: dict[str, Matrix4] = {}

    def add(self, name: str, kind: str, attached_to: str | None, relative_to: str, X: Matrix4, prefix: str) -> None:
        self._frames[name] = _Frame(kind, attached_to, relative_to, X, prefix)

    def attach_model(self, model: str, link: str, *, stated: bool = False) -> None:
        """Fix a model frame to its canonical link, or to the model that has it. stated: the file names it."""
        self._frames[model] = replace(self._frames[model], attached_to=link)
        if stated:
            self._canonical[model] = link

    def place(self, model: str, placement: str) -> None:
        """The pose of a model is that of another frame in it: turn the arrows on the way between them round."""
        frames = self._frames
        if placement not in frames:
            self._blame_placement(model, placement, "is not in the model")
            return
        path = {}  # from the placement frame to the model frame
        name: str | None = placement
        while name in frames and name != model and name not in path:
            path[name] = frames[name]
            name = frames[name].relative_to
        if name != model:
            if name is None:  # not a cycle or an unknown name, which are reported as such
                self._blame_placement(model, placement, "is not given relative to the model")
            return
        outside, X = frames[model].relative_to, frames[model].X
        for name, frame in path.items():
            frames[name] = replace(frame, relative_to=outside, X=X)
            outside, X = name, inverse(frame.X)
        frames[model] = replace(frames[model], relative_to=outside, X=X)

    def _blame_placement(self, model: str, placement: str, problem: str) -> None:
        local = _local(placement, self._scope_inside(model))
        message = f'the placement frame "{local}" of the model {problem}'
        self._faults.append(FrameFault(model, "MODEL_PLACEMENT_FRAME_INVALID", message, unknown=local))

    @staticmethod
    def _scope_inside(model: str) -> str:
        return "" if model == MODEL else model + SEPARATOR

    def resolve(self) -> tuple[FrameFault, ...]:
        """Solve both relations; returns the faults found, a tuple of `FrameFault`."""
        attached_order, attached_cycles = order_by_arrow(
            {name: frame.attached_to for name, frame in self._frames.items()}
        )
        relative_order, relative_cycles = order_by_arrow(
            {name: frame.relative_to for name, frame in self._frames.items()}
        )
        for name in attached_order:
            target = self._frames[name].attached_to
            self._link_of[name] = name if target is None else self._link_of[target]
        for name in relative_order:
            frame = self._frames[name]
            if frame.relative_to is None:
                self._depth[name], self._X_WF[name] = 0, IDENTITY
            else:
                self._depth[name] = self._depth[frame.relative_to] + 1
                self._X_WF[name] = compose(self._X_WF[frame.relative_to], frame.X)
        return (*self._faults, *self._unknown_names(), *self._cycles(attached_cycles, relative_cycles))

    # ------------------------------------------------------------------------------------------ faults

    def _unknown_names(self) -> Iterator[FrameFault]:
        for name, frame in self._frames.items():
            target = None if frame.attached_to is None else self._frames.get(frame.attached_to)
            stated = name in self._canonical
            if frame.attached_to is not None and (target is None or (stated and target.kind != "link")):
                scope = self._scope_inside(name) if stated else frame.prefix
                yield _unknown_name(name, frame, frame.attached_to, _UNKNOWN_ATTACHED_TO[frame.kind], scope)
                if frame.relative_to == frame.attached_to:
                    continue  # reported already
            if frame.relative_to is not None and frame.relative_to not in self._frames:
                yield _unknown_name(name, frame, frame.relative_to, _UNKNOWN_POSE, frame.prefix)

    def _cycles(
        self, attached_cycles: Iterable[list[str]], relative_cycles: Iterable[list[str]]
    ) -> Iterator[FrameFault]:
        """A cycle of attached_to is one of the default relative_to, too: report such a one once."""
        seen = set()
        position = {name: i for i, name in enumerate(self._frames)}
        for code, word, cycles in (
            ("FRAME_ATTACHED_TO_CYCLE", "attached to", attached_cycles),
            ("POSE_RELATIVE_TO_CYCLE", "relative to", relative_cycles),
        ):
            for cycle in cycles:
                if frozenset(cycle) in seen:
                    continue
                seen.add(frozenset(cycle))
                # the first of the file, rather not a model, whose element tells little
                start = cycle.index(min(cycle, key=lambda name: (self._frames[name].kind == "model", position[name])))
                chain = [*cycle[start:], *cycle[: start + 1]]
                arrows = " -> ".join(f'"{name}"' for name in chain)
                yield FrameFault(chain[0], code, f"frames are {word} each other in a cycle: {arrows}")

    # ----------------------------------------------------------------------------------------- answers

    def __contains__(self, name: str) -> bool:
        return name in self._frames

    def names(self) -> KeysView[str]:
        return self._frames.keys()

    def kind_of(self, name: str) -> str | None:
        frame = self._frames.get(name)
        return frame.kind if frame is not None else None

    def link_of(self, name: str) -> str | None:
        """The link (or "world") that a frame is fixed to; None if that is not known."""
        return self._link_of.get(name)

    def X_AB(self, a: str, b: str) -> Matrix4:
        """Pose of frame b in frame a in the file's default configuration."""
        if a not in self._depth or b not in self._depth:
            return IDENTITY
        # up to the frame from which both are given: frames above it do not round the result
        X_CA = X_CB = IDENTITY
        A: Any  # not None: the walk ends in the world at the latest
        B: Any
        A, B = a, b
        for _ in range(LONGEST_WALK if abs(self._depth[a] - self._depth[b]) < LONGEST_WALK else 0):
            if A == B:
                return compose(inverse(X_CA), X_CB)
            if self._depth[A] >= self._depth[B]:
                frame = self._frames[A]
                X_CA, A = compose(frame.X, X_CA), frame.relative_to
            else:
                frame = self._frames[B]
                X_CB, B = compose(frame.X, X_CB), frame.relative_to
        return compose(inverse(self._X_WF[a]), self._X_WF[b])


class FrameScope:
    """The frames as one model, or the world, names them: its own, and those of the models nested in it.

    prefix: that of its names in the graph. model: the full name of its model frame; the world's is the
    world. A model that is merged into another one shares its prefix and has a frame of its own for `__model__`.
    """

    def __init__(self, graph: FrameGraph, prefix: str = "", model: str = WORLD) -> None:
        self.graph = graph
        self.prefix = prefix
        self.model = model
        self.origin = WORLD if model == WORLD else MODEL  # the frame of poses by default

    @property
    def depth(self) -> int:
        """How many models it is inside of, the one at the top of a file not counted."""
        return self.prefix.count(SEPARATOR)

    def full(self, name: str) -> str:
        """The name in the graph of a name in the scope."""
        if name == MODEL and self.model != WORLD:
            return self.model
        if name == WORLD:
            return WORLD
        return self.prefix + name.removesuffix(SEPARATOR + MODEL)

    def inside(self, model: str) -> FrameScope:
        """The scope of the model that has a full name."""
        return FrameScope(self.graph, "" if model == MODEL else model + SEPARATOR, model)

    def add_model(self, name: str, *, relative_to: str | None = None, X: Matrix4 = IDENTITY) -> FrameScope:
        """The frame of a model in this one, at pose X in `relative_to` (default: the model frame, or the world),
        attached to the world; returns the scope inside of it."""
        inner = self.prefix + name
        self._add(inner, "model", WORLD, relative_to or self.origin, X)
        return self.inside(inner)

    def add_link(self, name: str, *, relative_to: str | None = None, X: Matrix4 = IDENTITY) -> None:
        """A link at pose X in `relative_to` (default: the model frame)."""
        self._add(self.prefix + name, "link", None, relative_to or self.origin, X)

    def add_joint(self, name: str, child: str, *, relative_to: str | None = None, X: Matrix4 = IDENTITY) -> None:
        """The frame of a joint, attached to its child; its pose is in `relative_to` (default: the child)."""
        self._add(self.prefix + name, "joint", child, relative_to or child, X)

    def add_frame(
        self, name: str, *, attached_to: str | None = None, relative_to: str | None = None, X: Matrix4 = IDENTITY
    ) -> None:
        """A frame attached to `attached_to` (default: the model frame), at pose X in `relative_to` (default:
        the frame that it is attached to). MODEL::__model__ is what is left of a model that is no longer nested."""
        attached_to = attached_to or self.origin
        self._add(self.full(name), "frame", attached_to, relative_to or attached_to, X)

    def _add(self, full_name: str, kind: str, attached_to: str | None, relative_to: str, X: Matrix4) -> None:
        attached_to = self.full(attached_to) if attached_to is not None else None
        self.graph.add(full_name, kind, attached_to, self.full(relative_to), X, self.prefix)

    def attach_model(self, link: str, *, stated: bool = False) -> None:
        """Fix the model frame to its canonical link, or to a nested model. stated: the file names it."""
        self.graph.attach_model(self.model, self.full(link), stated=stated)

    def place(self, placement: str) -> None:
        """The model's pose is that of a frame in it."""
        self.graph.place(self.model, self.full(placement))

    # ------------------------------------------------------------------------------------------ answers

    def __contains__(self, name: str) -> bool:
        return self.full(name) in self.graph

    @property
    def names(self) -> list[str]:
        """All names that a reference may use, implicit ones included."""
        own = [name.removeprefix(self.prefix) for name in self.graph.names() if name.startswith(self.prefix)]
        return own if self.model == WORLD else [MODEL, *own]

    @property
    def canonical_link(self) -> str | None:
        """The link that the model frame is fixed to, or "world"."""
        return self.link_of(MODEL)

    @property
    def X_WModel(self) -> Matrix4:
        """Pose of the model frame in the world."""
        return self.graph.X_AB(WORLD, self.model)

    def link_of(self, name: str) -> str | None:
        """The link (or "world") that a frame is fixed to; None if that is not known."""
        link = self.graph.link_of(self.full(name))
        return link if link is None or link == WORLD else link.removeprefix(self.prefix)

    def X_AB(self, a: str, b: str) -> Matrix4:
        """Pose of frame b in frame a in the file's default configuration."""
        return self.graph.X_AB(self.full(a), self.full(b))


def _local(full_name: str, prefix: str) -> str:
    return full_name.removeprefix(prefix)


def _unknown_name(name: str, frame: _Frame, target: str, template: tuple[str, str], prefix: str) -> FrameFault:
    code, message = template
    target = _local(target, prefix)
    text = message.format(name=_local(name, frame.prefix), kind=frame.kind, target=target)
    return FrameFault(name, code, text, unknown=target)
