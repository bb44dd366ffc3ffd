"""Solids that just touch, at the distance 0: contact where one of them is a ball, as in pydrake."""

import numpy as np
import pytest
from contact_scenes import Scene, drake_library, own_library

HALF = 0.5
PLACES = {  # shapes, the position of the first from the second, and whether pydrake 1.51 reports a point
    "ball-ball": ("ball", "ball", (1.0, 0.0, 0.0), True),
    "ball-box": ("ball", "box", (1.0, 0.0, 0.0), True),
    "ball-capsule": ("ball", "capsule", (1.0, 0.0, 0.0), True),
    "ball-cylinder": ("ball", "cylinder", (1.0, 0.0, 0.0), True),
    "ball-plane": ("ball", "plane", (0.0, 0.0, 0.5), True),
    "box-box": ("box", "box", (1.0, 0.0, 0.0), False),
    "box-plane": ("box", "plane", (0.0, 0.0, 0.5), False),
    "cylinder-plane": ("cylinder", "plane", (0.0, 0.0, 0.5), False),
    "capsule-plane": ("capsule", "plane", (0.0, 0.0, 1.0), False),
    "capsule-box": ("capsule", "box", (1.0, 0.0, 0.0), False),
}
OUTWARDS = 1e-9  # [m]


def shape(lib, name):
    return {
        "ball": lambda: lib.Sphere(HALF),
        "box": lambda: lib.Box(1.0, 1.0, 1.0),
        "capsule": lambda: lib.Capsule(HALF, 1.0),
        "cylinder": lambda: lib.Cylinder(HALF, 1.0),
        "plane": lambda: lib.HalfSpace(),
    }[name]()


def touching(lib, first, second, position):
    """How many contacts there are at a position of a body A over the second shape, which is World's."""
    s = Scene(lib, 1e-3, gravity=False)
    body = s.plant.AddRigidBody("A", lib.SpatialInertia.SolidSphereWithMass(1.0, HALF))
    s.collide(body, shape(lib, first))
    s.collide(s.plant.world_body(), shape(lib, second))
    s.start()
    s.place("A", position)
    s.simulator.Initialize()
    s.steps(1)
    return len(s.contacts())


@pytest.mark.parametrize("place", PLACES)
def test_a_touch_is_contact_where_a_ball_touches(place):
    lib = own_library()
    first, second, position, expected = PLACES[place]
    assert touching(lib, first, second, position) == expected
    assert touching(lib, first, second, np.array(position) * (1.0 + OUTWARDS)) == 0
    assert touching(lib, first, second, np.array(position) * (1.0 - OUTWARDS)) >= 1


@pytest.mark.peers("pydrake")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", PLACES)
def test_pydrake_reports_the_same_touches(place):
    first, second, position, expected = PLACES[place]
    assert touching(drake_library(), first, second, position) == expected
