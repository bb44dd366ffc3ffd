"""From force elements to the arrays of the engine; springs on joints are in compile_model.py, with their joints."""

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.engine.fields.model_fields import CUT_DAMPED, CUT_SLIDES, CUT_TURNS
from mbcli.multibody.tree.ball_spring import BallSpring
from mbcli.multibody.tree.bushing import CONSTANTS, LinearBushingRollPitchYaw
from mbcli.multibody.tree.door_hinge import DoorHinge
from mbcli.multibody.tree.joints import PrismaticJoint, RevoluteJoint
from mbcli.multibody.tree.joints.ball import BallJoint
from mbcli.multibody.tree.linear_spring_damper import LinearSpringDamper

JOINTS_WITH_FORCES = (RevoluteJoint, PrismaticJoint)  # whose damping and springs act also where they close a loop
JOINTS_WITH_DAMPING = (*JOINTS_WITH_FORCES, BallJoint)  # whose damping does
KINDS = {PrismaticJoint: CUT_SLIDES, RevoluteJoint: CUT_TURNS, BallJoint: CUT_DAMPED}


@dataclass
class CutJoint:
    """Damping and springs of a revolute or prismatic joint that closes a loop; of a ball joint damping about an axis.

    axis: (3,) in F and M.
    """

    joint: object
    springs: tuple
    axis: object

    def constants(self, parameters):
        """Damping, stiffness, position at rest: springs in parallel are one about the weighted position."""
        _, stiffness, rest = self._spring(parameters)
        return [parameters.get(self.joint, "damping")[0], stiffness, rest]

    def energy_at_rest(self, parameters):
        """Of the springs about their common position [J]."""
        given, _, rest = self._spring(parameters)
        return sum(0.5 * k * (rest - x) ** 2 for k, x in given)

    def _spring(self, parameters):
        given = [[parameters.get(s, name) for name in ("stiffness", "nominal")] for s in self.springs]
        stiffness = sum(k for k, _ in given)
        return given, stiffness, sum(k * x for k, x in given) / stiffness if stiffness else 0.0

    def axis_and_normal(self):
        """Components in F and M."""
        smallest = np.eye(3)[np.argmin(np.abs(self.axis))]
        normal = np.cross(smallest, self.axis)
        return [*self.axis, *(normal / np.linalg.norm(normal))]


def cut_joints(joint, springs):
    """The CutJoints of a joint that closes a loop and has such springs."""
    if isinstance(joint, BallJoint):
        return [CutJoint(joint, (), axis) for axis in np.eye(3)] if joint.default_damping() else []
    if isinstance(joint, JOINTS_WITH_FORCES) and (springs or joint.default_damping()):
        return [CutJoint(joint, tuple(springs), joint.axis())]
    return []


@dataclass
class DistanceSpring:
    """A distance constraint of finite stiffness as a spring-damper; it is one without force if that is infinite."""

    constraint: object
    plant: object

    def ends(self, parameters):
        """Bodies A and B, p_AP, p_BQ, and (free length, stiffness, damping)."""
        params = parameters.get(self.constraint, "params")
        acts = parameters.get(self.constraint, "active") and np.isfinite(params.stiffness())
        constants = (params.stiffness(), params.damping()) if acts else (0.0, 0.0)
        bodies = [self.plant.get_body(index) for index in (params.bodyA(), params.bodyB())]
        return *bodies, params.p_AP(), params.p_BQ(), (params.distance(), *constants)

    def fault(self):
        return self.constraint.fault()


def _ends(spring, parameters):
    """As DistanceSpring.ends(), of that or a LinearSpringDamper."""
    if isinstance(spring, DistanceSpring):
        return spring.ends(parameters)
    constants = spring.free_length(), spring.stiffness(), spring.damping()
    return spring.bodyA(), spring.bodyB(), spring.p_AP(), spring.p_BQ(), constants


def force_element_arrays(elements, link_body, link_X_BL, parameters):
    """(sizes, arrays) of spring-dampers, door hinges, bushings and cut joints; each learns its row in them.

    Args:
        elements: force elements, CutJoint, DistanceSpring; others than these are skipped.
        link_body, link_X_BL: body of each link, and pose (4, 4) of the link in it.
        parameters: Parameters, with the elements' values.
    """
    springs, hinges, bushings, cuts = (
        [e for e in elements if isinstance(e, kind)]
        for kind in ((LinearSpringDamper, DistanceSpring), DoorHinge, LinearBushingRollPitchYaw, CutJoint)
    )
    for kind in (springs, hinges, bushings):
        for row, element in enumerate(kind):
            element.row = row
    sizes = {"nspring": len(springs), "nhinge": len(hinges), "nbushing": len(bushings), "ncut": len(cuts)}
    balls = {e.joint() for e in elements if isinstance(e, BallSpring)}
    sizes["nelement"] = 3 * len(springs) + 6 * len(bushings) + len(cuts) + 3 * len(balls)
    ends = [_ends(e, parameters) for e in springs]
    arrays = {
        "spring_damper_link": [[int(A.index()), int(B.index())] for A, B, *_ in ends],
        "spring_damper_point": [
            [*_in_body(p_AP, link_X_BL[int(A.index())]), *_in_body(p_BQ, link_X_BL[int(B.index())])]
            for A, B, p_AP, p_BQ, _ in ends
        ],
        "spring_damper_constants": [constants for *_, constants in ends],
        "hinge_dof": [e.joint().velocity_start() for e in hinges],
        "hinge_constants": [e.constants for e in hinges],
        "bushing_link": [[int(e.link0().index()), int(e.link1().index())] for e in bushings],
        "bushing_frame": [[int(e.frameA().index()), int(e.frameC().index())] for e in bushings],
        "bushing_constants": [np.concatenate([parameters.get(e, name) for name in CONSTANTS]) for e in bushings],
    }
    frames = [[e.joint.frame_on_parent(), e.joint.frame_on_child()] for e in cuts]
    arrays |= {
        "cut_link": [[int(frame.body().index()) for frame in pair] for pair in frames],
        "cut_frame": [[int(frame.index()) for frame in pair] for pair in frames],
        "cut_turns": [_kind(e.joint) for e in cuts],
        "cut_axis": [e.axis_and_normal() for e in cuts],
        "cut_constants": [e.constants(parameters) for e in cuts],
    }
    widths = {"spring_damper_point": 6, "spring_damper_constants": 3, "hinge_constants": 8, "bushing_constants": 12}
    widths |= {"cut_axis": 6, "cut_constants": 3}
    pairs = dict.fromkeys(("spring_damper_link", "bushing_link", "bushing_frame", "cut_link", "cut_frame"), 2)
    for name, width in (widths | pairs).items():
        arrays[name] = np.reshape(arrays[name], (-1, width))
    return sizes, arrays


def _kind(joint):
    return next(number for kind, number in KINDS.items() if isinstance(joint, kind))


def _in_body(p, X_BL):
    """A point of a link in its body."""
    return X_BL[:3, :3] @ p + X_BL[:3, 3]
