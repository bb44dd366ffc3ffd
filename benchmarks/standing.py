"""What stands, stands: boxes that start a little tilted stay upright, and tip at the angle and push of theory.

python -m benchmarks.standing [--time 60] [--random 40] [--dt 0.001]
"""

import argparse
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
        </sdf>""".encode(),
        "box.sdf",
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


def tilted(size, mass, share, *arguments):
    """A box at rest, tilted by a share of the angle at which a rigid one tips."""
    return Stand(size, mass, share * atan2(size[0], size[2]), *arguments)


def pushed(size, mass, share, dt, approximation):
    """An upright box that turns about its edge, at a share of the speed that carries a rigid one over that edge."""
    w, _, h = size
    radius = 0.5 * hypot(w, h)
    speed = sqrt(2.0 * G * (radius - 0.5 * h) / (hypot(w, h) ** 2 / 12.0 + radius**2))
    run = Stand(size, mass, 0.0, dt, approximation)
    omega = share * speed * np.array([0.0, 1.0, 0.0])
    run.plant.SetVelocities(run.context, [*omega, *np.cross(omega, [-0.5 * w, 0.0, 0.5 * h])])
    return run


def falling_share(start, size, mass, approximation, dt):
    """The least share of theory at which a box that starts so (tilted, pushed) falls."""
    least, most = 0.8, 1.2
    for _ in range(6):
        share = 0.5 * (least + most)
        run = start(size, mass, share, dt, approximation)
        least, most = (least, share) if run.run(8.0) > 1.0 else (share, most)
    return 0.5 * (least + most)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.standing", description=__doc__.split("\n")[0])
    parser.add_argument("--time", type=float, default=60.0, help="[s] that they stand")
    parser.add_argument("--random", type=int, default=40, help="boxes of random sizes beside the five")
    parser.add_argument("--dt", type=float, default=1e-3, help="[s] step, 0 for continuous plants")
    options = parser.parse_args()
    approximations = APPROXIMATIONS if options.dt else (None,)
    fallen = 0
    for name, (*size, mass) in (BODIES | random_boxes(options.random)).items():
        angles = [Stand(size, mass, TILT, options.dt, a).run(options.time) for a in approximations]
        fallen += sum(angle > UPRIGHT for angle in angles)
        row = [f"{name:32}", *(f"{degrees(angle):8.4f}" for angle in angles)]
        if name in BODIES:
            for said, start in (("tips at", tilted), ("at a push of", pushed)):
                row += [said, *(f"{falling_share(start, size, mass, a, options.dt):6.3f}" for a in approximations)]
        print(*row, flush=True)
    print(f"degrees after {options.time:g} s: {', '.join(a or 'continuous' for a in approximations)}; {fallen} fell")


if __name__ == "__main__":
    main()
