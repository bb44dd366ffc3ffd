"""From force elements to the arrays of the engine; springs on joints are in compile_model.py, with their joints."""

import numpy as np

from mbcli.multibody.tree.bushing import CONSTANTS, LinearBushingRollPitchYaw
from mbcli.multibody.tree.door_hinge import DoorHinge
from mbcli.multibody.tree.linear_spring_damper import LinearSpringDamper


def force_element_arrays(elements, link_body, link_X_BL, parameters):
    """(sizes, arrays) of spring-dampers, door hinges and bushings; each element learns its row in them.

    Args:
        elements: force elements; others than these are skipped.
        link_body, link_X_BL: body of each link, and pose (4, 4) of the link in it.
        parameters: Parameters, what the elements' values are.
    """
    springs, hinges, bushings = (
        [e for e in elements if isinstance(e, kind)]
        for kind in (LinearSpringDamper, DoorHinge, LinearBushingRollPitchYaw)
    )
    for kind in (springs, hinges, bushings):
        for row, element in enumerate(kind):
            element._row = row
    sizes = {"nspring": len(springs), "nhinge": len(hinges), "nbushing": len(bushings)}
    arrays = {
        "spring_damper_link": [[int(e.bodyA().index()), int(e.bodyB().index())] for e in springs],
        "spring_damper_point": [
            [
                *_in_body(e.p_AP(), link_X_BL[int(e.bodyA().index())]),
                *_in_body(e.p_BQ(), link_X_BL[int(e.bodyB().index())]),
            ]
            for e in springs
        ],
        "spring_damper_constants": [[e.free_length(), e.stiffness(), e.damping()] for e in springs],
        "hinge_dof": [e.joint().velocity_start() for e in hinges],
        "hinge_constants": [e._constants for e in hinges],
        "bushing_link": [[int(e.link0().index()), int(e.link1().index())] for e in bushings],
        "bushing_frame": [[int(e.frameA().index()), int(e.frameC().index())] for e in bushings],
        "bushing_constants": [np.concatenate([parameters.get(e, name) for name in CONSTANTS]) for e in bushings],
    }
    widths = {"spring_damper_point": 6, "spring_damper_constants": 3, "hinge_constants": 8, "bushing_constants": 12}
    pairs = dict.fromkeys(("spring_damper_link", "bushing_link", "bushing_frame"), 2)
    for name, width in (widths | pairs).items():
        arrays[name] = np.reshape(arrays[name], (-1, width))
    return sizes, arrays


def _in_body(p, X_BL):
    """A point of a link in its body."""
    return X_BL[:3, :3] @ p + X_BL[:3, 3]
