"""The motion of links of an SDFormat file in DART, by a Python with dartpy: `python dart_states.py FILE STEPS STEP`.

Prints {link: [place, axes, velocity of the centre of mass, angular velocity]} after STEPS steps as JSON.
"""

import json
import sys

import dartpy as dart


def states(path, steps, step):
    """Of a world with its gravity; nothing touches."""
    skeleton = dart.utils.SdfParser.readSkeleton(path)
    world = dart.simulation.World()
    world.setGravity([0.0, 0.0, -9.81])
    world.setTimeStep(step)
    world.addSkeleton(skeleton)
    for _ in range(steps):
        world.step()
    found = {}
    for k in range(skeleton.getNumBodyNodes()):
        body = skeleton.getBodyNode(k)
        X = body.getWorldTransform()
        parts = (X.translation(), X.rotation().reshape(-1), body.getCOMLinearVelocity(), body.getAngularVelocity())
        found[body.getName()] = [[float(x) for x in part] for part in parts]
    return found


if __name__ == "__main__":
    print(json.dumps(states(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
