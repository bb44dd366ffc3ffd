"""Rigid bodies in contact in DART, by a Python with dartpy: `python dart_contact_states.py < WORLD.json`.

The world is what `dart_contacts.py` describes; it is built by DART's own calls. Prints {body: [x, y, z] [m] at the end}
as JSON.
"""

import json
import sys

import dartpy as dart
import numpy as np

STEP = 1e-3  # [s]


def shape(body):
    """Of a description; an unknown kind is a KeyError."""
    kinds = {
        "box": dart.dynamics.BoxShape,
        "sphere": lambda size: dart.dynamics.SphereShape(*size),
        "cylinder": lambda size: dart.dynamics.CylinderShape(*size),
        "plane": lambda size: dart.dynamics.PlaneShape([0.0, 0.0, 1.0], 0.0),
    }
    return kinds[body["kind"]](body["size"])


def skeleton(body):
    """A body welded to the world, or free, at its pose and velocity."""
    found = dart.dynamics.Skeleton(body["name"])
    fixed = body["mass"] is None
    joint, node = found.createWeldJointAndBodyNodePair() if fixed else found.createFreeJointAndBodyNodePair()
    solid = node.createShapeNode(shape(body))
    solid.createCollisionAspect()
    surface = solid.createDynamicsAspect()
    surface.setFrictionCoeff(body["mu"])
    surface.setRestitutionCoeff(0.0)
    roll, pitch, yaw = body["pose"][3:]
    R = dart.math.eulerZYXToMatrix(np.array([yaw, pitch, roll]))
    X = dart.math.Isometry3()
    X.set_rotation(R)
    X.set_translation(body["pose"][:3])
    if fixed:
        joint.setTransformFromParentBodyNode(X)
        return found
    node.setInertia(dart.dynamics.Inertia(body["mass"], np.zeros(3), np.diag(body["moments"])))
    dart.dynamics.FreeJoint.setTransformOf(node, X)
    joint.setLinearVelocity(np.array(body["velocity"][:3]))  # of World, as all that follows
    joint.setAngularVelocity(np.array(body["velocity"][3:]))
    return found


def places(description):
    """{body: [x, y, z]} at the end of a run."""
    world = dart.simulation.World()
    world.setGravity([0.0, 0.0, -description["gravity"]])
    world.setTimeStep(STEP)
    world.getConstraintSolver().setCollisionDetector(dart.collision.OdeCollisionDetector())  # the one Gazebo chooses
    if description["cone"]:
        world.getConstraintSolver().setBoxedLcpSolver(dart.constraint.NsgsFrictionSolver())
    skeletons = {body["name"]: skeleton(body) for body in description["bodies"]}
    for each in skeletons.values():
        world.addSkeleton(each)
    for _ in range(round(description["end"] / STEP)):
        world.step()
    return {name: each.getBodyNode(0).getWorldTransform().translation().tolist() for name, each in skeletons.items()}


if __name__ == "__main__":
    print(json.dumps(places(json.load(sys.stdin))))
