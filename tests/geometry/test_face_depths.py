"""Depth and stored energy of contact surfaces, against the work of their pressure and closed forms."""

import numpy as np
import pytest
from hydroelastic_scenes import HydroelasticScene

from mbcli import all as own
from mbcli.multibody.contact.point_contact import contacts_of_state
from mbcli.multibody.stepping.compliance_energy import compliance_energies

MODULUS, DEGREE = 1e6, np.pi / 180.0
BOX, BALL = ("Box", 0.05, 0.05, 0.05), ("Sphere", 0.025)
CYLINDER, CAPSULE = ("Cylinder", 0.025, 0.05), ("Capsule", 0.02, 0.05)
ELLIPSOID, PLATE = ("Ellipsoid", 0.03, 0.02, 0.025), ("Box", 0.1, 0.08, 0.02)
SHAPES = {
    **{f"box turned by {angle} degrees": (BOX, (angle * DEGREE, 0, 0), 5e-4) for angle in (0, 0.02, 0.1, 0.3, 1)},
    "ball": (BALL, (0, 0, 0), 2e-3),
    "cylinder": (CYLINDER, (0, 0, 0), 5e-4),
    "lying cylinder": (CYLINDER, (90 * DEGREE, 0, 0), 5e-4),
    "capsule": (CAPSULE, (90 * DEGREE, 0, 0), 5e-4),
    "ellipsoid": (ELLIPSOID, (0.3, 0.2, 0), 2e-3),
    "plate": (PLATE, (0, 0, 0), 5e-4),
}
ON_PLANE = {
    "box turned by 3 degrees": (BOX, (3 * DEGREE, 0, 0), 5e-4),
    "box turned by 30 degrees": (BOX, (30 * DEGREE, 0, 0), 5e-4),
    "box turned by 45 degrees": (BOX, (45 * DEGREE, 0, 0), 5e-4),
    "shallow box": (BOX, (0, 0, 0), 1e-4),
    "shallow ball": (BALL, (0, 0, 0), 4e-4),
    "shallow cylinder": (CYLINDER, (0, 0, 0), 1e-4),
    "shallow capsule": (CAPSULE, (90 * DEGREE, 0, 0), 1e-4),
    "shallow plate": (PLATE, (0, 0, 0), 1e-4),
}
CASES = [(shape, soft) for shape in SHAPES for soft in (False, True)] + [(shape, False) for shape in ON_PLANE]


class Press:
    """A solid that is pressed into a floor; at(z): force, stored energy and depth with its origin at a height."""

    def __init__(self, shape, rpy, soft):
        scene = self.scene = HydroelasticScene(own, 0.0)
        scene.add(shape, {"kind": "soft", "modulus": MODULUS, "hint": 0.005})
        if soft:
            scene.fix(("Box", 0.4, 0.4, 0.2), {"kind": "soft", "modulus": MODULUS, "hint": 0.05})
        else:
            scene.fix(("HalfSpace",), {"kind": "rigid"})
        scene.start()
        self._rpy = rpy

    def at(self, z):
        self.scene.place([0.0113, 0.0071, z], self._rpy)
        _, record = contacts_of_state(self.scene.plant, self.scene.context)
        force = abs(float((record.pressure * record.area * record.normal[:, 2]).sum()))
        return force, float(compliance_energies(record).sum()), float((-record.distance).max(initial=0.0))

    def touching(self):
        low, high = 0.0, 0.3
        for _ in range(45):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.at(middle)[0] > 0.0 else (low, middle)
        return high


@pytest.mark.parametrize(("name", "soft"), CASES)
def test_what_is_stored_is_the_work_of_the_pressure_and_nothing_is_deeper_than_it_sank(name, soft):
    shape, rpy, depth = (SHAPES | ON_PLANE)[name]
    press = Press(shape, rpy, soft)
    z = press.touching()
    steps = 20
    force = [press.at(z - depth * k / steps)[0] for k in range(steps + 1)]
    work = depth / steps * (force[0] + force[-1] + 4 * sum(force[1:-1:2]) + 2 * sum(force[2:-1:2])) / 3
    _, energy, deepest = press.at(z - depth)
    assert energy == pytest.approx(work, rel=0.03)
    assert deepest < 1.15 * depth


def test_a_cube_at_rest_stores_half_its_weight_times_its_depth():
    side, mass, modulus = 0.05, 1.0, 5e6
    scene = HydroelasticScene(own, 1e-3)
    scene.add(("Box", side, side, side), {"kind": "soft", "modulus": modulus, "dissipation": 10.0})
    scene.fix(("HalfSpace",), {"kind": "rigid"})
    scene.start()
    depth = mass * 9.81 / (side * side * modulus / (side / 2))
    scene.place([0.0113, 0.0071, side / 2 - depth], (1e-9, 0.0, 0.0))
    scene.simulator.AdvanceTo(0.3)
    _, record = contacts_of_state(scene.plant, scene.context)
    assert compliance_energies(record).sum() == pytest.approx(0.5 * mass * 9.81 * depth, rel=0.01)
    assert -record.distance.min() == pytest.approx(depth, rel=0.03)
