"""SDFormat worlds in contact beside DART and beside closed forms.

    python -m benchmarks.dart_contacts --dart PYTHON [--rounds 3] [--cone]

PYTHON has dartpy. A round has a world of each kind with drawn sizes, masses, frictions and velocities: boxes and
cylinders that slide to rest, or for ever, on a plane, a box and slopes, balls that begin to roll, balls and cylinders
that roll down, stacks of two to four, things that drop. mbcli runs the file as `mbcli simulate` does, DART a world that
its own calls build of the same numbers, both in steps of 1 ms. Compared is where bodies come to rest, to 2 % of their
height, and how far they slide, to 2 % of the distance.

DART's friction is a pyramid along axes of World by default: askew to them it takes up to 1.4 times as much. --cone
asks DART for its solver of Coulomb's cone.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from math import atan, cos, sin, tan
from pathlib import Path

import numpy as np

from mbcli.models import load_model
from mbcli.multibody.math import SpatialVelocity
from mbcli.simulation import simulate

GRAVITY = 9.81
TOLERANCE = 0.02
STAYS = 1e-3  # [m] that what friction holds may creep
UPRIGHT = (0.0, 0.0, 0.0)


def moments(kind, size, mass):
    """(3,) principal moments of inertia."""
    if kind == "box":
        squares = np.square(size)
        return [mass * (squares.sum() - each) / 12.0 for each in squares]
    if kind == "sphere":
        return [0.4 * mass * size[0] ** 2] * 3
    radius, length = size
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return [across, across, 0.5 * mass * radius**2]


def solid(name, kind, size, mu, pose, mass=None, velocity=(0.0,) * 6):
    """A body of a world, static without a mass. pose: x y z roll pitch yaw; velocity: linear, angular, in World."""
    body = {"name": name, "kind": kind, "size": list(map(float, size)), "mu": float(mu), "mass": mass}
    body |= {"pose": list(map(float, pose)), "velocity": list(map(float, velocity))}
    return body | ({} if mass is None else {"moments": moments(kind, size, mass)})


def ground(random, mu):
    """Static, at z = 0: a plane, or the top of a box."""
    if random.random() < 0.5:
        return solid("ground", "plane", (100.0, 100.0), mu, (0.0, 0.0, 0.0, *UPRIGHT))
    return solid("ground", "box", (200.0, 200.0, 1.0), mu, (0.0, 0.0, -0.5, *UPRIGHT))


def slope(mu, angle):
    """A static box that has been turned about y, down along x; its top goes through the origin."""
    return solid("ground", "box", (400.0, 20.0, 1.0), mu, (-0.5 * sin(angle), 0.0, -0.5 * cos(angle), 0.0, angle, 0.0))


def world(bodies, end, rests=None, slides=None):
    """rests: {body: height [m] of its centre at the end}; slides: {body: distance [m] from its start to the end}."""
    return {"gravity": GRAVITY, "bodies": bodies, "end": end, "rests": rests or {}, "slides": slides or {}}


def flat_box(random):
    """Sizes of one that slides and does not tip."""
    x, y = random.uniform(0.2, 0.6, 2)
    return x, y, random.uniform(0.2, 0.5) * min(x, y)


def upright_cylinder(random):
    radius = random.uniform(0.1, 0.3)
    return radius, random.uniform(0.2, 0.9) * radius


def mass(random):
    return float(10.0 ** random.uniform(-1.0, 1.5))


def slides_to_rest(random, kind):
    """On the ground: v^2 / (2 mu g)."""
    mu, v, yaw = random.uniform(0.1, 1.0), random.uniform(1.0, 4.0), random.uniform(-3.0, 3.0)
    size = flat_box(random) if kind == "box" else upright_cylinder(random)
    height = 0.5 * size[-1]
    velocity = (v * cos(yaw), v * sin(yaw), 0.0, 0.0, 0.0, 0.0)  # along one of its sides
    body = solid("body", kind, size, mu, (0.0, 0.0, height, 0.0, 0.0, yaw), mass(random), velocity)
    end = v / (mu * GRAVITY) + 0.5
    return world([ground(random, mu), body], end, {"body": height}, {"body": v**2 / (2.0 * mu * GRAVITY)})


def slides_for_ever(random):
    """Without friction: v t."""
    size, v = flat_box(random), random.uniform(0.5, 3.0)
    body = solid("body", "box", size, 0.0, (0.0, 0.0, 0.5 * size[2], *UPRIGHT), mass(random), (v, *[0.0] * 5))
    return world([ground(random, 0.0), body], 1.0, {"body": 0.5 * size[2]}, {"body": v})


def slides_on_a_box(random, kind):
    """A small one on a long heavy one, which lies on the ground and stays: v^2 / (2 mu g)."""
    mu, v, top = random.uniform(0.3, 0.9), random.uniform(0.8, 1.8), 0.4
    size = flat_box(random) if kind == "box" else upright_cylinder(random)
    table = solid("table", "box", (8.0, 2.0, top), mu, (0.0, 0.0, 0.5 * top, *UPRIGHT), 400.0)
    at = (-2.0, 0.0, top + 0.5 * size[-1], *UPRIGHT)
    body = solid("body", kind, size, mu, at, random.uniform(0.5, 5.0), (v, *[0.0] * 5))
    rests = {"body": top + 0.5 * size[-1], "table": 0.5 * top}
    distance = v**2 / (2.0 * mu * GRAVITY)
    return world([ground(random, mu), table, body], v / (mu * GRAVITY) + 0.5, rests, {"body": distance, "table": 0.0})


def slides_down(random):
    """Of a slope steeper than friction holds: (sin a - mu cos a) g t^2 / 2."""
    mu = random.uniform(0.0, 0.5)
    angle = atan(mu) + random.uniform(0.15, 0.4)
    distance = 0.5 * GRAVITY * (sin(angle) - mu * cos(angle))
    return world([slope(mu, angle), on_slope(random, flat_box(random), mu, angle)], 1.0, {}, {"body": distance})


def stays_on_a_slope(random):
    """That friction holds: 0."""
    mu = random.uniform(0.3, 1.0)
    angle = atan(mu) * random.uniform(0.2, 0.9)
    return world([slope(mu, angle), on_slope(random, flat_box(random), mu, angle)], 2.0, {}, {"body": 0.0})


def slides_up(random):
    """A slope that holds it then: v^2 / (2 g (sin a + mu cos a))."""
    mu, v = random.uniform(0.4, 1.0), random.uniform(1.5, 3.0)
    angle = atan(mu) * random.uniform(0.2, 0.8)
    slowed = GRAVITY * (sin(angle) + mu * cos(angle))
    body = on_slope(random, flat_box(random), mu, angle, (-v * cos(angle), 0.0, v * sin(angle), 0.0, 0.0, 0.0))
    return world([slope(mu, angle), body], v / slowed + 0.5, {}, {"body": v**2 / (2.0 * slowed)})


def on_slope(random, size, mu, angle, velocity=(0.0,) * 6):
    height = 0.5 * size[2]
    at = (height * sin(angle), 0.0, height * cos(angle), 0.0, angle, 0.0)
    return solid("body", "box", size, mu, at, mass(random), velocity)


def begins_to_roll(random):
    """A ball that slides until it rolls with 5/7 of its velocity."""
    mu, v, radius, end = random.uniform(0.1, 0.8), random.uniform(1.0, 4.0), random.uniform(0.05, 0.3), 2.0
    slid = 2.0 * v / (7.0 * mu * GRAVITY)
    distance = v * slid - 0.5 * mu * GRAVITY * slid**2 + 5.0 / 7.0 * v * (end - slid)
    body = solid("body", "sphere", [radius], mu, (0.0, 0.0, radius, *UPRIGHT), mass(random), (v, *[0.0] * 5))
    return world([ground(random, mu), body], end, {"body": radius}, {"body": distance})


def rolls_down(random, kind):
    """A ball, or a cylinder on its side: g sin a t^2 / (2 (1 + k)), k = I / (m r^2)."""
    mu, radius = random.uniform(0.4, 1.0), random.uniform(0.05, 0.3)
    angle = random.uniform(0.05, 0.9 * atan(3.0 * mu)) * 0.5
    inertia, size = (0.4, [radius]) if kind == "sphere" else (0.5, [radius, random.uniform(1.0, 4.0) * radius])
    turn = (0.0, angle, 0.0) if kind == "sphere" else (0.5 * np.pi, 0.0, 0.0)
    at = (radius * sin(angle), 0.0, radius * cos(angle), *turn)
    distance = 0.5 * GRAVITY * sin(angle) / (1.0 + inertia)
    assert tan(angle) < mu * (1.0 + inertia) / inertia  # it does not slide
    return world([slope(mu, angle), solid("body", kind, size, mu, at, mass(random))], 1.0, {}, {"body": distance})


def stands_in_a_stack(random):
    """Of two to four, each drawn; boxes and upright cylinders."""
    mu, top, rests = random.uniform(0.2, 1.0), 0.0, {}
    bodies = [ground(random, mu)]
    for k in range(int(random.integers(2, 5))):
        kind = "box" if random.random() < 0.6 else "cylinder"
        size = flat_box(random) if kind == "box" else upright_cylinder(random)
        at = (*random.uniform(-0.02, 0.02, 2), top + 0.5 * size[-1], *UPRIGHT)
        bodies.append(solid(f"b{k}", kind, size, mu, at, float(10.0 ** random.uniform(0.0, 1.0))))
        rests[f"b{k}"] = at[2]
        top += size[-1]
    return world(bodies, 2.0, rests)


def drops(random, kind):
    """From up to 0.3 m, level: it comes to rest where it falls, on the ground or on a box."""
    sizes = {"box": flat_box, "cylinder": upright_cylinder, "sphere": lambda random: [random.uniform(0.05, 0.3)]}
    mu, size = random.uniform(0.1, 1.0), sizes[kind](random)
    height = size[0] if kind == "sphere" else 0.5 * size[-1]
    top = random.choice([0.0, 0.4])
    at = (0.0, 0.0, top + height + random.uniform(0.02, 0.3), *UPRIGHT)
    bodies = [ground(random, mu), solid("body", kind, size, mu, at, mass(random))]
    if top:
        bodies.append(solid("table", "box", (2.0, 2.0, top), mu, (0.0, 0.0, 0.5 * top, *UPRIGHT), 40.0))
    return world(bodies, 2.0, {"body": top + height})


KINDS = {
    "a box slides": lambda random: slides_to_rest(random, "box"),
    "a cylinder slides": lambda random: slides_to_rest(random, "cylinder"),
    "no friction": slides_for_ever,
    "a box on a box": lambda random: slides_on_a_box(random, "box"),
    "a cylinder on a box": lambda random: slides_on_a_box(random, "cylinder"),
    "down a slope": slides_down,
    "held by a slope": stays_on_a_slope,
    "up a slope": slides_up,
    "a ball begins to roll": begins_to_roll,
    "a ball rolls down": lambda random: rolls_down(random, "sphere"),
    "a cylinder rolls down": lambda random: rolls_down(random, "cylinder"),
    "a stack": stands_in_a_stack,
    "a box drops": lambda random: drops(random, "box"),
    "a cylinder drops": lambda random: drops(random, "cylinder"),
    "a ball drops": lambda random: drops(random, "sphere"),
}
ELEMENTS = {
    "box": lambda size: f"<size>{_row(size)}</size>",
    "plane": lambda size: f"<normal>0 0 1</normal><size>{_row(size)}</size>",
    "sphere": lambda size: f"<radius>{size[0]}</radius>",
    "cylinder": lambda size: f"<radius>{size[0]}</radius><length>{size[1]}</length>",
}


def sdformat(description):
    """The text of the world."""
    models = []
    for body in description["bodies"]:
        shape = f"<geometry><{body['kind']}>{ELEMENTS[body['kind']](body['size'])}</{body['kind']}></geometry>"
        friction = f"<surface><friction><ode><mu>{body['mu']}</mu><mu2>{body['mu']}</mu2></ode></friction></surface>"
        inertial = "<static>true</static>"
        if body["mass"] is not None:
            ixx, iyy, izz = body["moments"]
            inertial = (
                f"<inertial><mass>{body['mass']}</mass><inertia><ixx>{ixx}</ixx><iyy>{iyy}</iyy><izz>{izz}</izz>"
                "<ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>"
            )
        static, inertial = (inertial, "") if body["mass"] is None else ("", inertial)
        models.append(
            f'<model name="{body["name"]}">{static}<pose>{_row(body["pose"])}</pose><link name="link">{inertial}'
            f'<collision name="c">{shape}{friction}</collision></link></model>'
        )
    gravity = f"<gravity>0 0 -{description['gravity']}</gravity>"
    return f'<?xml version="1.0"?><sdf version="1.9"><world name="w">{gravity}{"".join(models)}</world></sdf>'


def _row(numbers):
    return " ".join(repr(float(x)) for x in numbers)


def ours(path, description):
    """{body: (3,) place} at the end of a run of the file."""
    loaded = load_model(path, contact=True)
    plant = loaded.plant
    context = plant.CreateDefaultContext()
    moving = [body for body in description["bodies"] if body["mass"] is not None]
    links = {each["name"]: plant.GetBodyByName("link", plant.GetModelInstanceByName(each["name"])) for each in moving}
    for each in moving:
        velocity = SpatialVelocity(each["velocity"][3:], each["velocity"][:3])
        plant.SetFreeBodySpatialVelocity(links[each["name"]], velocity, context)
    simulate(loaded, description["end"], start=context, warn=lambda line: None)
    return {name: plant.EvalBodyPoseInWorld(context, link).translation() for name, link in links.items()}


def theirs(python, description, cone):
    """The same of DART."""
    worker = str(Path(__file__).with_name("dart_contact_states.py"))
    text = json.dumps(description | {"cone": cone})
    done = subprocess.run([python, worker], input=text, capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def measures(description, places):
    """{what: (value, closed form, the size that 2 % are of)} of places at the end."""
    found = {}
    bodies = {body["name"]: body for body in description["bodies"]}
    for name, height in description["rests"].items():
        body = bodies[name]
        tall = 2.0 * body["size"][0] if body["kind"] == "sphere" else body["size"][-1]
        found[f"{name} rests"] = (float(places[name][2]), height, tall)
    for name, distance in description["slides"].items():
        moved = np.subtract(places[name], bodies[name]["pose"][:3])
        found[f"{name} slides"] = (float(np.linalg.norm(moved)), distance, max(distance, STAYS / TOLERANCE))
    return found


def apart(description, a, b=None):
    """{what: difference of a from b, or from the closed form, in parts of the size}"""
    one = measures(description, a)
    other = {what: values[1] for what, values in one.items()}
    if b is not None:
        other = {what: values[0] for what, values in measures(description, b).items()}
    return {what: abs(value - other[what]) / size for what, (value, _, size) in one.items()}


def worlds(rounds):
    """Yields (name, description), the same each time."""
    for n in range(rounds):
        for k, (name, make) in enumerate(KINDS.items()):
            yield f"{name} {n}", make(np.random.default_rng([n, k]))


def main():
    """Prints a line a world, and how many agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dart", required=True, help="a Python that has dartpy")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cone", action="store_true", help="DART with Coulomb's cone")
    options = parser.parse_args()
    columns = {"apart": [], "mbcli": [], "DART": []}
    with tempfile.TemporaryDirectory() as folder:
        for name, description in worlds(options.rounds):
            path = f"{folder}/world.sdf"
            Path(path).write_text(sdformat(description))
            a, b = ours(path, description), theirs(options.dart, description, options.cone)
            found = (apart(description, a, b), apart(description, a), apart(description, b))
            for column, each in zip(columns.values(), found, strict=True):
                column.append(max(each.values()))
            off = [what for what, value in found[0].items() if not value <= TOLERANCE]
            figures = ", ".join(f"{what} {values[-1]:.2%}" for what, values in columns.items())
            print(f"{name}: {figures}{'; ' + ', '.join(off) if off else ''}", flush=True)
    close = {what: sum(value <= TOLERANCE for value in values) for what, values in columns.items()}
    count = len(columns["apart"])
    print(
        f"{close['apart']} of {count} agree to {TOLERANCE:.0%}; the largest difference is {max(columns['apart']):.2%}"
    )
    for what in ("mbcli", "DART"):
        print(f"{what}: {close[what]} within {TOLERANCE:.0%} of the closed form, the farthest {max(columns[what]):.2%}")
    return 0 if close["apart"] == count else 1


if __name__ == "__main__":
    sys.exit(main())
