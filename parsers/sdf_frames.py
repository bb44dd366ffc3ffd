"""The frames of one SDFormat model and where they are, without any XML.

Every link, joint and frame of a model has a name, and so have the model frame (`__model__`) and the world.
Two relations connect them, each one arrow from a name to another:

- attached_to: the frame moves with that one; following the arrows ends at a link, or at the world;
- relative_to: the frame's pose is given in that one; following the arrows ends at the model frame.

The arrows may point forward in the file, so a `FrameGraph` is filled first and then resolved as a whole.
References look only into their own scope or down from it: a model nested in another one is a graph of its own,
solved before its parent, whose names enter the parent's graph as "M::name" with their poses in frame "M".

Frame semantics: http://sdformat.org/tutorials?tut=pose_frame_semantics
"""

from dataclasses import dataclass

import numpy as np

from .spec import IDENTITY, pose

WORLD = "world"
MODEL = "__model__"


def is_reserved(name):
    """Names that a file must not give to its elements: world, and those that start and end with two
    underscores."""
    return name == WORLD or (len(name) >= 4 and name.startswith("__") and name.endswith("__"))


@dataclass(frozen=True, slots=True)
class FrameFault:
    """What is wrong with a graph, and whose fault it is."""

    frame: str  # the frame whose element is to blame
    code: str  # libsdformat's name of the error
    message: str
    unknown: str | None = None  # the name that nothing has


@dataclass(frozen=True, slots=True)
class _Frame:
    kind: str  # "model", "world", "link", "joint" or "frame"
    attached_to: str | None  # None: the frame of a link, or the world
    relative_to: str | None  # None: the model frame
    X: np.ndarray  # pose in relative_to


# by the kind of the frame whose arrow points to a name that is not there
_UNKNOWN_ATTACHED_TO = {
    "model": ("MODEL_CANONICAL_LINK_INVALID", 'the canonical link "{target}" is not a link of the model'),
    "joint": ("JOINT_CHILD_LINK_INVALID", 'the child "{target}" of joint "{name}" is not in the model'),
    "frame": (
        "FRAME_ATTACHED_TO_INVALID",
        'frame "{name}" is attached to "{target}", which is not in the model',
    ),
}
_UNKNOWN_RELATIVE_TO = {
    "world": ("MODEL_PLACEMENT_FRAME_INVALID", 'the placement frame "{target}" is not in the model'),
}
_UNKNOWN_POSE = (
    "POSE_RELATIVE_TO_INVALID",
    'the pose of {kind} "{name}" is relative to "{target}", which is not in the model',
)


class FrameGraph:
    """The frames of a model: add them in any order, then `resolve()`, then ask.

    canonical_link: the link that the model frame is fixed to; default: the first one added, or the world if
    there is none. X_WPlacement: the model's own pose, which is that of `placement_frame` in the world
    (default: of the model frame).

    The world stands in this graph at the inverse of the model's pose, so that `world` may be named wherever a
    frame may. The answers about a frame that `resolve` found a fault with are None or the identity.
    """

    def __init__(self, *, canonical_link=None, X_WPlacement=IDENTITY, placement_frame=None):
        self._frames = {
            MODEL: _Frame("model", canonical_link or WORLD, None, IDENTITY),
            WORLD: _Frame("world", None, placement_frame or MODEL, inverse(X_WPlacement)),
        }
        self._has_canonical_link = canonical_link is not None
        self._X_WPlacement = X_WPlacement
        self._has_placement_frame = placement_frame is not None
        self._link_of = {}
        self._depth = {}
        self._X_ModelF = {}

    def add_link(self, name, *, relative_to=None, X=IDENTITY):
        """A link at pose X in `relative_to` (default: the model frame)."""
        if not self._has_canonical_link:
            self._has_canonical_link = True
            self._frames[MODEL] = _Frame("model", name, None, IDENTITY)
        self._frames[name] = _Frame("link", None, relative_to or MODEL, X)

    def add_joint(self, name, child, *, relative_to=None, X=IDENTITY):
        """The frame of a joint, attached to its child; its pose is in `relative_to` (default: the child)."""
        self._frames[name] = _Frame("joint", child, relative_to or child, X)

    def add_frame(self, name, *, attached_to=None, relative_to=None, X=IDENTITY):
        """A frame attached to `attached_to` (default: the model frame), at pose X in `relative_to` (default:
        what it is attached to)."""
        attached_to = attached_to or MODEL
        self._frames[name] = _Frame("frame", attached_to, relative_to or attached_to, X)

    def resolve(self):
        """Solve both relations; returns the faults found, a tuple of `FrameFault`."""
        attached_order, attached_cycles = _order_by_arrow(
            {name: frame.attached_to for name, frame in self._frames.items()}
        )
        relative_order, relative_cycles = _order_by_arrow(
            {name: frame.relative_to for name, frame in self._frames.items()}
        )
        for name in attached_order:
            target = self._frames[name].attached_to
            self._link_of[name] = name if target is None else self._link_of[target]
        for name in relative_order:
            frame = self._frames[name]
            if frame.relative_to is None:
                self._depth[name], self._X_ModelF[name] = 0, IDENTITY
            else:
                self._depth[name] = self._depth[frame.relative_to] + 1
                self._X_ModelF[name] = compose(self._X_ModelF[frame.relative_to], frame.X)
        return (*self._unknown_names(), *self._cycles(attached_cycles, relative_cycles))

    # ------------------------------------------------------------------------------------------ faults

    def _unknown_names(self):
        model = self._frames[MODEL]
        canonical = self._frames.get(model.attached_to)
        if self._has_canonical_link and canonical is not None and canonical.kind != "link":
            yield _unknown_name(MODEL, model, model.attached_to, _UNKNOWN_ATTACHED_TO["model"])
        for name, frame in self._frames.items():
            if frame.attached_to is not None and frame.attached_to not in self._frames:
                yield _unknown_name(name, frame, frame.attached_to, _UNKNOWN_ATTACHED_TO[frame.kind])
                if frame.relative_to == frame.attached_to:
                    continue  # said already
            if frame.relative_to is not None and frame.relative_to not in self._frames:
                template = _UNKNOWN_RELATIVE_TO.get(frame.kind, _UNKNOWN_POSE)
                yield _unknown_name(name, frame, frame.relative_to, template)

    def _cycles(self, attached_cycles, relative_cycles):
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
                # the first of the file; the implicit frames come first and have no element to blame
                start = cycle.index(min(cycle, key=lambda name: (name in (MODEL, WORLD), position[name])))
                chain = [*cycle[start:], *cycle[: start + 1]]
                arrows = " -> ".join(f'"{name}"' for name in chain)
                yield FrameFault(chain[0], code, f"frames are {word} each other in a cycle: {arrows}")

    # ----------------------------------------------------------------------------------------- answers

    def __contains__(self, name):
        return name in self._frames

    @property
    def names(self):
        """All names that a reference may use, implicit ones included."""
        return self._frames.keys()

    @property
    def canonical_link(self):
        """The link that the model frame is fixed to, or "world"."""
        return self.link_of(MODEL)

    @property
    def X_WModel(self):
        """Pose of the model frame in the world."""
        # not by way of the inverse that stands in the graph: exact where the file gives it directly
        return self.X_AB(WORLD, MODEL) if self._has_placement_frame else self._X_WPlacement

    def link_of(self, name):
        """The link (or "world") that a frame is fixed to; None if that is not known."""
        return self._link_of.get(name)

    def X_AB(self, a, b):
        """Pose of frame b in frame a in the model's default configuration."""
        if a not in self._depth or b not in self._depth:
            return IDENTITY
        if a == MODEL:
            return self._X_ModelF[b]
        # up to the frame from which both are given: what stands above it does not round the result
        X_CA = X_CB = IDENTITY
        while a != b:
            if self._depth[a] >= self._depth[b]:
                frame = self._frames[a]
                X_CA, a = compose(frame.X, X_CA), frame.relative_to
            else:
                frame = self._frames[b]
                X_CB, b = compose(frame.X, X_CB), frame.relative_to
        return compose(inverse(X_CA), X_CB)


def _unknown_name(name, frame, target, template):
    code, message = template
    return FrameFault(name, code, message.format(name=name, kind=frame.kind, target=target), unknown=target)


def find_cycles(arrow):
    """The cycles, lists of names, of names that point to at most one other each: {name: name or None}."""
    return _order_by_arrow(arrow)[1]


def _order_by_arrow(arrow):
    """Sort names so that each comes after the one that its arrow points to.

    arrow: {name: the name it points to, or None}. Returns (order, cycles), both lists; names whose arrows
    lead into a cycle or out of the dictionary are not in the order.
    """
    sound = {}  # name: its arrows end at a None
    order, cycles = [], []
    for start in arrow:
        path = {}  # name: position
        name = start
        while name in arrow and name not in sound and name not in path:
            path[name] = len(path)
            name = arrow[name]
        if name in path:
            cycles.append(list(path)[path[name] :])
        ends_well = name is None or sound.get(name, False)
        for passed in reversed(path):
            sound[passed] = ends_well
            if ends_well:
                order.append(passed)
    return order, cycles


# ------------------------------------------------------------------------------------------------ poses


def compose(X_AB, X_BC):
    """X_AC of two poses (4, 4)."""
    return pose(X_AB[:3, :3] @ X_BC[:3, :3], X_AB[:3, :3] @ X_BC[:3, 3] + X_AB[:3, 3])


def inverse(X_AB):
    """X_BA of a pose (4, 4)."""
    return pose(X_AB[:3, :3].T, -(X_AB[:3, :3].T @ X_AB[:3, 3]))
