"""What stands, stands: boxes that start a little tilted stay upright, and tip at the angle and push of rigid statics.

python -m benchmarks.standing [--time 60] [--random 40] [--approximations lagged sap ...] [--dt 0.001]
"""

import argparse
import sys
from math import atan2, cos, degrees, hypot, radians, sin, sqrt

import numpy as np

from mbcli.models.loading import ModelText, load_model
from mbcli.systems.analysis import Simulator

BODIES = {  # width, depth, height [m], mass [kg]
    "book": (0.02, 0.15, 0.25, 1.0),
    "post": (0.05, 0.05, 1.3, 2.0),
    "panel": (0.02, 0.6, 1.2, 10.0),
    "phone": (0.008, 0.07, 0.15, 0.2),
    "domino": (0.0075, 0.024, 0.048, 0.01),
}
TILT = radians(0.11)
APPROXIMATIONS = ("lagged", "similar", "sap", "tamsi")
G, FRICTION, UPRIGHT = 9.81, 1.0, radians(0.5)


def box(size, mass, tilt=0.0, stiffness=None):
    """SDFormat of a box that stands on the edge of its base, tilted about y [rad], of a contact stiffness [N/m]."""
    w, d, h = size
    z = 0.5 * (h * cos(tilt) + w * abs(sin(tilt)))
    moments = [mass * (a * a + b * b) / 12.0 for a, b in ((d, h), (w, h), (w, d))]
    own = "" if stiffness is None else f"<drake:point_contact_stiffness>{stiffness}</drake:point_contact_stiffness>"
    return ModelText(
        f"""<sdf version="1.9" xmlns:drake="drake.mit.edu"><model name="m"><pose>0 0 {z} 0 {tilt} 0</pose>
        <link name="m"><inertial><mass>{mass}</mass><inertia><ixx>{moments[0]}</ixx><iyy>{moments[1]}</iyy>
        <izz>{moments[2]}</izz></inertia></inertial><collision name="c"><geometry><box><size>{w} {d} {h}</size></box>
        </geometry><drake:proximity_properties><drake:mu_dynamic>{FRICTION}</drake:mu_dynamic>
        <drake:mu_static>{FRICTION}</drake:mu_static>{own}</drake:proximity_properties></collision></link></model>
        </sdf>""",
        "sdf",
    )


def random_boxes(count, seed=0):
    """{name: (width, depth, height, mass)}: widths of 2 mm to 2 m, heights to 2 m, those that statics lets stand."""
    rng, found = np.random.default_rng(seed), {}
    while len(found) < count:
        w, d = 2e-3 * 1e3 ** rng.uniform(size=2)
        h = rng.uniform(min(w, 1.0), 2.0)
        if min(w, d) > 2.0 * TILT * h:  # it tips at twice the tilt or more
            found[f"{len(found):02} {w:.4f} x {d:.4f} x {h:.3f}"] = (w, d, h, max(1e-3, 500.0 * w * d * h))
    return found


class Stand:
    """A run of a box on the ground."""

    def __init__(self, size, mass, tilt=TILT, dt=1e-3, approximation=None, **options):
        loaded = load_model(
            box(size, mass, tilt, **options), ground=0.0, contact=True, dt=dt, contact_approximation=approximation
        )
        self.plant = loaded.plant
        self.simulator = Simulator(self.plant)
        self.context = self.simulator.get_mutable_context()
        self.body = self.plant.GetBodyByName("m")

    def spin(self, rate):
        """Gives it an angular velocity [rad/s] about the edge at +x of its base, and a velocity that goes with it."""
        X = self.plant.GetFreeBodyPose(self.context, self.body).translation()
        v = self.plant.GetVelocities(self.context)
        v[1], v[3], v[5] = rate, rate * X[2], -rate * (X[0] - self.edge(+1)[0])
        self.plant.SetVelocities(self.context, v)

    def edge(self, side):
        raise NotImplementedError

    def angle(self):
        """[rad] of its axis from the vertical."""
        R = self.plant.GetFreeBodyPose(self.context, self.body).rotation().matrix()
        return atan2(hypot(R[0, 2], R[1, 2]), R[2, 2])

    def run(self, seconds):
        """Its angle [rad] after so long, or when it has fallen."""
        t = 0.0
        while t < seconds and self.angle() < 1.0:
            t += 1.0
            self.simulator.AdvanceTo(t)
        return self.angle()
