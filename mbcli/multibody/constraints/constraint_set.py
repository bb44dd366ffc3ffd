"""ConstraintSet: contact, loop and custom constraints, and the last results with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.turns import Turn
from mbcli.engine.runtime.kernel import compiled_by_default
from mbcli.multibody.compilation.compile_constraints import Given, Tie, compile_constraints, contact, loop_rows
from mbcli.multibody.compilation.constrained_model import ConstrainedModel
from mbcli.multibody.constraints.constrained_calls import ConstrainedCalls
from mbcli.multibody.constraints.custom import Constraint
from mbcli.multibody.constraints.entries import (
    ConstraintType,
    Entry,
    grouped,
    pose_of,
    resolve_body,
    unit_vector_of,
    vector_of,
)
from mbcli.multibody.constraints.linear_systems import LinearSolver
from mbcli.multibody.constraints.wrenches import Wrenches

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.rigid_transform import RigidTransform
    from mbcli.multibody.constraints.entries import Group
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.index import BodyIndex

CONTACT, LOOP, CUSTOM = ConstraintType


class ConstraintSet(Wrenches):
    """Constraints on a model; rows of G, `force` and the errors are in the order of their addition.

    Attributes, once the set is bound:
        err, errd: phi and its rate (size,), of the last dynamics or CalcConstrainedSystemVariables().
        H, C, G, gamma: mass matrix (nv, nv), C (nv,), Jacobian (size, nv), gamma with stabilization (size,).
        force, impulse: multipliers of the last dynamics, of the last impact (size,) [N or N m, N s or N m s].
        v_plus: velocity errors wanted after an impact (size,); set it before, zero at first.
        S, P, W: selection of actuated and other velocities, weights of the relaxed inverse dynamics.
        independent: whether each row was found independent of the others, by the last dynamics or impulses (size,).
        K, a: matrix (size, size) and right-hand side (size,) of the system of ForwardDynamicsContactsKokkevis().
        bound, linear_solver: state; the solver of dense systems.
    """

    S: Any
    P: Any

    def __init__(self) -> None:
        self.entries, self.groups = [], []
        self.linear_solver = LinearSolver.LinearSolverColPivHouseholderQR
        self.bound = False
        self.turn = Turn("a ConstraintSet")  # of functions of many states, whose arrays these are
        self._plant: MultibodyPlant | None = None
        self._forget()

    # adding

    def AddContactConstraint(
        self,
        bodyId: BodyIndex | int,
        bodyPoint: ArrayLike,
        worldNormal: ArrayLike,
        constraintName: str | None = None,
        userDefinedId: Any = None,
    ) -> int:
        """A body point does not move along a direction of World: one row; returns the assigned id.

        bodyPoint [m] (3,) in the body frame; worldNormal (3,) of length 1, in World, which need not be along an axis.
        A positive force pushes the body along the normal. RuntimeError: the set is bound; ValueError: bad values, a
        name or id that is taken.
        """
        X = np.eye(4)
        X[:3, 3] = vector_of(bodyPoint, 3, "bodyPoint")
        normal = unit_vector_of(worldNormal, "worldNormal")
        return self._add(
            CONTACT, constraintName, userDefinedId, bodies=(0, bodyId), frames=(np.eye(4), X), vector=normal
        )

    def AddLoopConstraint(
        self,
        bodyIdPredecessor: BodyIndex | int,
        bodyIdSuccessor: BodyIndex | int,
        XPredecessor: RigidTransform,
        XSuccessor: RigidTransform,
        constraintAxisInPredecessor: ArrayLike,
        enableBaumgarteStabilization: bool = False,
        stabilizationTimeConstant: float = 0.1,
        constraintName: str | None = None,
        userDefinedId: Any = None,
    ) -> int:
        """Frame S on the successor does not move in frame P on the predecessor along one spatial axis of P: one row.

        XPredecessor, XSuccessor: X_BP and X_BS, RigidTransform or matrices (4, 4) or (3, 4): p_BoPo_B, and the R_BP
        whose columns are the axes of P. constraintAxisInPredecessor (6,): rotational part first, in P; a force of 1
        along it is the spatial force on the successor at So. Returns the assigned id. RuntimeError: the set is bound;
        ValueError: bad values, a name or id that is taken, another stabilization than the rest of the group has.
        """
        axis = vector_of(constraintAxisInPredecessor, 6, "constraintAxisInPredecessor")
        if not axis.any():
            raise ValueError("constraintAxisInPredecessor must not be zero")
        return self._add(
            LOOP,
            constraintName,
            userDefinedId,
            bodies=(bodyIdPredecessor, bodyIdSuccessor),
            frames=(pose_of(XPredecessor, "XPredecessor"), pose_of(XSuccessor, "XSuccessor")),
            vector=axis,
            stabilization=_stabilization(enableBaumgarteStabilization, stabilizationTimeConstant),
        )

    def AddCustomConstraint(self, customConstraint: Constraint) -> int:
        """The rows of a Constraint; returns the assigned id. RuntimeError and ValueError as for the others."""
        if not isinstance(customConstraint, Constraint):
            raise TypeError(f"expected a Constraint, not {customConstraint!r}")
        c = customConstraint
        stabilization = _stabilization(c.enableBaumgarteStabilization, c.stabilizationTimeConstant)
        return self._add(CUSTOM, c.name, c.userDefinedId, c.size, stabilization=stabilization, custom=c)

    def _add(self, kind, name, user_id, num_rows=1, **details):
        if self.bound:
            raise RuntimeError("the constraint set is bound: nothing can be added; Copy() gives one that is not")
        for key, value in (("name", name), ("user_id", user_id)):
            if value is not None and any(getattr(entry, key) == value for entry in self.entries):
                raise ValueError(f"the constraint set has a constraint with the {key.replace('_', ' ')} {value!r}")
        first = self.size()
        entry = Entry(kind, name, user_id, len(self.entries), range(first, first + num_rows), **details)
        groups = grouped([*self.entries, entry])
        for other in next(group for group in groups if entry in group.entries).entries:
            if other.stabilization != entry.stabilization:
                raise ValueError("constraints of one group have one Baumgarte stabilization: this is another one")
        self.entries.append(entry)
        self.groups = groups
        return entry.assigned_id

    # life cycle

    def Copy(self) -> ConstraintSet:
        """A set of the same constraints, not bound, without results."""
        other = ConstraintSet()
        for e in self.entries:
            values = vars(e) | {"stabilization": list(e.stabilization), "links": ()}
            other.entries.append(Entry(**values))
        other.groups = grouped(other.entries)
        other.linear_solver = self.linear_solver
        return other

    def SetSolver(self, solver: LinearSolver | str) -> None:
        """The solver of dense systems: those of the direct method and of Kokkevis. LinearSolver or its value."""
        self.linear_solver = LinearSolver(solver)

    def Bind(self, model: MultibodyPlant) -> bool:
        """Fits the set to a finalized plant, whose default parameters count from now on; True.

        Nothing can be added afterwards. ValueError: no such body; RuntimeError: bound already, not finalized.
        """
        if self.bound:
            raise RuntimeError("the constraint set is bound already; Copy() gives one that is not")
        model.require_finalized("Bind")
        links = [tuple(resolve_body(model, body) for body in e.bodies) for e in self.entries]
        for _, custom in self.customs():
            custom.bind(model)
        for e, of_entry in zip(self.entries, links, strict=True):
            e.links = of_entry
        self.groups = grouped(self.entries)
        constraints = compile_constraints(model.model, [self._compiled_group(group) for group in self.groups])
        compiled = compiled_by_default(not model.prefers_interpreted)
        self.constrained = ConstrainedModel(model.model, constraints, compiled)
        self.calls, self.nv, self._customs = ConstrainedCalls(self.constrained), model.num_velocities(), self.customs()
        self._searches, self._batches = {}, []
        self._plant, self.bound = model, True
        self._position_names, self._velocity_names = model.GetPositionNames(), model.GetVelocityNames()
        self.write_stabilization()
        self.v_plus = np.zeros(self.size())
        return True

    def size(self) -> int:
        """Number of constraint equations."""
        return self.entries[-1].rows.stop if self.entries else 0

    def clear(self) -> None:
        """Forgets all results and sets v_plus to zero; constraints, the binding and the actuation map stay."""
        actuation = self.S, self.P
        self._forget()
        self.S, self.P = actuation
        if self.bound:
            self.v_plus = np.zeros(self.size())

    def SetActuationMap(self, model: MultibodyPlant, actuatedDof: ArrayLike) -> None:
        """Which velocities (nv,) have an actuator: needed before inverse dynamics. ValueError for another length."""
        self.require_bound(model)
        actuated = np.asarray(actuatedDof)
        nv = model.num_velocities()
        if actuated.dtype != bool or actuated.shape != (nv,):
            raise ValueError(f"actuatedDof must be {nv} booleans, one for each velocity, not {actuatedDof!r}")
        self.S, self.P = np.eye(nv)[actuated], np.eye(nv)[~actuated]
        self.W = None

    # views

    @property
    def constraints(self) -> list[Group]:
        """The groups."""
        return list(self.groups)

    @property
    def contactConstraints(self) -> list[Group]:
        """The groups of contacts."""
        return [group for group in self.groups if group.first.kind is CONTACT]

    @property
    def loopConstraints(self) -> list[Group]:
        """The groups of loop constraints."""
        return [group for group in self.groups if group.first.kind is LOOP]

    @property
    def name(self) -> list[str]:
        """Name of the constraint of each row."""
        return [e.name or "" for e in self.entries for _ in e.rows]

    @property
    def constraintType(self) -> list[ConstraintType]:
        """ConstraintType of each row."""
        return [e.kind for e in self.entries for _ in e.rows]

    @property
    def nameGroupMap(self) -> dict[Any, int]:
        """Index of the group by the name of any constraint in it."""
        return self._group_map("name")

    @property
    def userDefinedIdGroupMap(self) -> dict[Any, int]:
        """Index of the group by the user's id of any constraint in it."""
        return self._group_map("user_id")

    @property
    def idGroupMap(self) -> dict[Any, int]:
        """Index of the group by the assigned id of any constraint in it."""
        return self._group_map("assigned_id")

    def _group_map(self, key):
        found = ((getattr(e, key), k) for k, group in enumerate(self.groups) for e in group.entries)
        return {value: k for value, k in found if value is not None}

    def _forget(self):
        self.forget_multipliers()
        self.err = self.errd = self.v_plus = None
        self.H = self.C = self.G = self.gamma = self.independent = None
        self.S = self.P = self.W = self.K = self.a = None

    def _compiled_group(self, group):
        first, numbers = group.first, tuple(group.rows)
        if first.kind is CUSTOM:
            return Given(numbers)
        rows = [contact(e.vector)[0] for e in group.entries]
        if first.kind is LOOP:
            rows = loop_rows([e.vector for e in group.entries])
        P, S = (int(body.index()) for body in first.links)
        return Tie(P, first.frames[0], S, first.frames[1], tuple(rows), numbers)


def _stabilization(enabled, time_constant):
    if not 0.0 < time_constant < np.inf:
        raise ValueError(f"the time constant of stabilization must be greater than 0, it is {time_constant}")
    return [bool(enabled), float(time_constant)]
