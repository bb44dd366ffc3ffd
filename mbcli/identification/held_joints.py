"""Joints that stand still in a motion, as those that its data lack: the links on both sides are one body then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.coordinate_names import AmbiguousNameError, NamedCoordinates
from mbcli.errors import ArgumentError, ModelError
from mbcli.identification.data_checks import driven
from mbcli.identification.findings import Finding
from mbcli.identification.records import given
from mbcli.identification.signals import MOVES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.identification.records import Record
    from mbcli.math.array_types import FloatArray

ALL = "all"  # in place of a joint: every one that the data lack


@dataclass(frozen=True)
class HeldJoints:
    """Joints that do not move.

    Attributes:
        joints: names, without followers. positions (nq,), velocities (nv,): masks of theirs and of their followers'.
        q: (nq,) where they stand if a file does not tell; NaN of followers.
        measured: names of those whose positions every file gives.
    """

    joints: list[str]
    positions: Any
    velocities: Any
    q: FloatArray
    measured: list[str]

    def fill(self, record: Record) -> Record:
        """A record in which these joints have a position, and do not move."""
        q = np.where(self.positions & np.isnan(record.q), self.q, record.q)
        v, vdot = (np.where(self.velocities, 0.0, values) for values in (record.v, record.vdot))
        return replace(record, q=q, v=v, vdot=vdot)

    def document(self, plant: Any) -> list[dict[str, Any]]:
        """[{"joint": name, "positions": numbers, or null where the data give them}]."""
        of = {joint.name(): joint for joint in plant.moving_joints()}
        found = []
        for name in self.joints:
            start = of[name].position_start()
            q = self.q[start : start + of[name].num_positions()].tolist()
            found.append({"joint": name, "positions": None if name in self.measured else q})
        return found

    def finding(self, plant: Any, source: str) -> Finding:
        """What is held, and where."""
        words = []
        for entry in self.document(plant):
            q = entry["positions"]
            where = "as measured" if q is None else f"at {' '.join(f'{value:g}' for value in q)}"
            words.append(f"{entry['joint']} {where}")
        return Finding("DATA_HELD", f"held, as if welded: {', '.join(words)}", source)


def nothing_held(plant: Any) -> HeldJoints:
    """Of a motion of all joints."""
    nq, nv = plant.num_positions(), plant.num_velocities()
    return HeldJoints([], np.zeros(nq, dtype=bool), np.zeros(nv, dtype=bool), np.full(nq, np.nan), [])


def held_joints(plant: Any, wanted: Mapping[str, float | None], records: Sequence[Record] = ()) -> HeldJoints:
    """The joints that are held.

    Args:
        plant: finalized. wanted: {name of a joint or its position: where [rad or m] it stands, None: at its default},
            ALL for every joint whose positions the records lack, or which is driven, has no efforts there and does not
            move.
        records: of the motions. A position that they give counts, not the default.

    Raises:
        ArgumentError: a name means nothing, or a follower; a value of a joint of several positions. ModelError: one
        moves in a record, or has its position there and by `wanted`; nothing is left to move.
    """
    joints = [joint for joint in plant.moving_joints() if joint.num_velocities()]
    leaders = {c.joint0: c.joint1 for c in plant.elements.constraints if c.kind == "coupler"}
    chosen: dict[Any, float | None] = {}
    for name, value in wanted.items():
        if name == ALL:
            continue
        joint = _joint(plant, joints, name)
        if joint in leaders:
            raise ArgumentError(f"held: joint {joint.name()} follows {leaders[joint].name()}: hold that")
        if joint in chosen:
            raise ArgumentError(f"held: '{name}' is a second word for joint {joint.name()}")
        if value is not None and joint.num_positions() != 1:
            raise ArgumentError(f"held: joint {joint.name()} has {joint.num_positions()} positions, not one: no value")
        chosen[joint] = value
    if ALL in wanted:
        acts = driven(plant)
        lacking = [j for j in joints if j not in leaders and _lacks(j, records, acts)]
        chosen = dict.fromkeys(lacking) | chosen
    held = _of(plant, chosen)
    for joint, value in chosen.items():
        for record in records:
            _check(joint, value, record)
    measured = [j.name() for j in chosen if records and all(given(_positions(j, r)).all() for r in records)]
    held.measured.extend(measured)
    for _ in leaders:  # followers of followers
        for follower, leader in leaders.items():
            if held.velocities[leader.velocity_start()]:
                held.positions[follower.position_start()] = held.velocities[follower.velocity_start()] = True
    if held.velocities.all():
        raise ModelError("all joints are held: nothing moves")
    return held


def _of(plant: Any, chosen: Mapping[Any, float | None]) -> HeldJoints:
    """Without followers."""
    held, default = nothing_held(plant), plant.GetDefaultPositions()
    for joint, value in chosen.items():
        i, d = joint.position_start(), joint.velocity_start()
        own = slice(i, i + joint.num_positions())
        held.joints.append(joint.name())
        held.positions[own], held.velocities[d : d + joint.num_velocities()] = True, True
        held.q[own] = default[own] if value is None else value
    return held


def without_efforts(plant: Any, names: Sequence[str], held: HeldJoints) -> Any:
    """(nv,) mask of the velocities of joints whose efforts are not known, and so are not used.

    Raises:
        ArgumentError: a name means nothing, or a joint that is held. ModelError: a model with constraints, whose
            equations are sums over joints; or no joint is left.
    """
    found = np.zeros(plant.num_velocities(), dtype=bool)
    if not names:
        return found
    joints = [joint for joint in plant.moving_joints() if joint.num_velocities()]
    if any(not held.velocities[c.joint0.velocity_start()] for c in plant.elements.constraints if c.kind == "coupler"):
        raise ModelError("no efforts: followers (mimic) move here, whose equations are sums over joints")
    if any(c.kind != "coupler" for c in plant.elements.constraints):
        raise ModelError("no efforts: the model has constraints, whose equations are sums over joints")
    for name in names:
        joint = _joint(plant, joints, name, "no efforts")
        start = joint.velocity_start()
        if held.velocities[start]:
            raise ArgumentError(f"no efforts: joint {joint.name()} is held, and needs none")
        found[start : start + joint.num_velocities()] = True
    if (found | held.velocities).all():
        raise ModelError("no efforts: no joint is left whose efforts are known; --fit trajectory needs none")
    return found


def _joint(plant: Any, joints: Sequence[Any], name: str, what: str = "held") -> Any:
    named = [joint for joint in joints if joint.name() == name]
    if len(named) == 1:
        return named[0]
    try:
        k = NamedCoordinates(plant.GetPositionNames(), "joint").find(name)
    except AmbiguousNameError as error:
        raise ArgumentError(f"{what}: {error}") from None
    except LookupError as error:
        raise ArgumentError(f"{what}: {error}") from None
    return next(j for j in joints if j.position_start() <= k < j.position_start() + j.num_positions())


def _positions(joint: Any, record: Record) -> FloatArray:
    return record.q[:, joint.position_start() : joint.position_start() + joint.num_positions()]


def _still(joint: Any, record: Record) -> bool:
    q = _positions(joint, record)
    return bool(np.isnan(q).any() or np.ptp(q, axis=0).max() <= MOVES)


def _lacks(joint: Any, records: Sequence[Record], acts: Any) -> bool:
    own = slice(joint.velocity_start(), joint.velocity_start() + joint.num_velocities())
    if not all(given(_positions(joint, record)).all() for record in records):
        return True
    silent = acts[own].any() and not any(given(record.tau[:, own]).any() for record in records)
    return bool(silent and all(_still(joint, record) for record in records))


def _check(joint: Any, value: float | None, record: Record) -> None:
    if not given(_positions(joint, record)).all():
        return
    if value is not None:
        raise ModelError(
            f"{record.source}: error: it has positions of joint {joint.name()}, which is held at {value:g}"
        )
    if not _still(joint, record):
        raise ModelError(f"{record.source}: error: joint {joint.name()} moves here: it cannot be held")
