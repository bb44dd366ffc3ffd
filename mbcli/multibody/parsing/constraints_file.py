"""The constraints of a YAML file into a plant."""

from mbcli.math import RigidTransform
from mbcli.multibody.parsing.scene_names import SceneNames


def add_constraints_of_file(plant, constraints, diagnostics):
    """Adds ModelConstraints to a plant that is not finalized; faults are in `diagnostics`."""
    adder = _Adder(plant)
    for constraint in constraints.constraints:
        record = constraint.record
        try:
            added = plant.constraint("constraints file", getattr(adder, constraint.kind)(record))
        except LookupError as error:
            diagnostics.error("NAME_UNKNOWN", str(error), place=record.place)
        except RuntimeError as error:
            diagnostics.error("VALUE_INVALID", str(error), place=record.place)
        else:
            added.name, added.place = record.name, record.place


class _Adder:
    """Look-ups in the plant and calls of its methods, which return ids. LookupError for unknown names."""

    def __init__(self, plant):
        self._plant, self._names = plant, SceneNames(plant)

    def _element(self, get, found):
        instance, name = found
        return get(name, self._plant.GetModelInstanceByName(instance))

    def _frame(self, name, X_FP=None):
        """Body B of a frame F, and X_BP."""
        frame = self._element(self._plant.GetFrameByName, self._names.frame(name))
        X_FP = RigidTransform() if X_FP is None else X_FP.GetDeterministicValue()
        return frame.body(), frame.GetFixedPoseInBodyFrame().multiply(X_FP)

    def _point(self, name, p_FP):
        """Body B of a frame F, and p_BP."""
        body, X_BF = self._frame(name)
        return body, X_BF.multiply(p_FP)

    def _joint(self, name):
        return self._element(self._plant.GetJointByName, self._names.joint(name))

    def contact(self, record):
        return self._plant.AddContactConstraint(*self._point(record.body, record.point), record.normals)

    def loop(self, record):
        P, X_P = self._frame(record.predecessor, record.X_predecessor)
        S, X_S = self._frame(record.successor, record.X_successor)
        return self._plant.AddLoopConstraint(P, S, X_P, X_S, record.axes)

    def coupler(self, record):
        joints = self._joint(record.joint0), self._joint(record.joint1)
        return self._plant.AddCouplerConstraint(*joints, record.gear_ratio, record.offset)

    def distance(self, record):
        ends = (*self._point(record.body_A, record.p_AP), *self._point(record.body_B, record.p_BQ))
        return self._plant.AddDistanceConstraint(*ends, record.distance, record.stiffness, record.damping)

    def ball(self, record):
        A, p_AP = self._point(record.body_A, record.p_AP)
        B, p_BQ = (
            (self._frame(record.body_B)[0], None) if record.p_BQ is None else self._point(record.body_B, record.p_BQ)
        )
        return self._plant.AddBallConstraint(A, p_AP, B, p_BQ)

    def weld(self, record):
        ends = (*self._frame(record.body_A, record.X_AP), *self._frame(record.body_B, record.X_BQ))
        return self._plant.AddWeldConstraint(*ends)

    def tendon(self, record):
        joints = [self._joint(name).index() for name in record.joints]
        limits = (record.lower_limit, record.upper_limit)
        return self._plant.AddTendonConstraint(
            joints, record.a, record.offset, *limits, record.stiffness, record.damping
        )
