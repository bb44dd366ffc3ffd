"""Solids that fly, bounce and strike, in plants of points of contact."""

import numpy as np

from mbcli import geometry
from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.geometry import ProximityProperties
from mbcli.math import RigidTransform
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.plant import AddMultibodyPlant, CoulombFriction
from mbcli.multibody.tree import SpatialInertia
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder


class FlyingSolids:
    """Solids (shape, mass, position or pose, velocity of the centre or spatial velocity); of mass 0: on World.

    properties: of their material, of all of them. ground: whether there is a half space z < 0.
    """

    def __init__(self, solids, h, law="lagged", friction=0.0, ground=False, gravity=9.81, **properties):
        config, builder = MultibodyPlantConfig(time_step=h, contact_model="point"), DiagramBuilder()
        config.discrete_contact_approximation = law
        self.plant, _ = AddMultibodyPlant(config, builder)
        self.plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -gravity])
        self.h, self.steps = h, 0

        def material():
            made = ProximityProperties()
            made.AddProperty("material", "coulomb_friction", CoulombFriction(friction, friction))
            for name, value in properties.items():
                made.AddProperty("material", name, value)
            return made

        world = self.plant.world_body()
        if ground:
            self.plant.RegisterCollisionGeometry(world, RigidTransform(), geometry.HalfSpace(), "ground", material())
        starts = []
        for k, (shape, mass, place, velocity) in enumerate(solids):
            X = place if isinstance(place, RigidTransform) else RigidTransform(np.array(place, float))
            if mass == 0.0:
                self.plant.RegisterCollisionGeometry(world, X, shape, f"solid{k}", material())
                continue
            body = self.plant.AddRigidBody(f"body{k}", inertia_of(shape, mass))
            self.plant.RegisterCollisionGeometry(body, RigidTransform(), shape, f"solid{k}", material())
            starts.append((body, X, np.concatenate([np.zeros(6 - len(velocity)), velocity])))
        self.plant.Finalize()
        self.bodies = [body for body, _, _ in starts]
        self.simulator = Simulator(builder.Build())
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        for body, X, V in starts:
            self.plant.SetFreeBodyPose(self.context, body, X)
            self.plant.SetFreeBodySpatialVelocity(body, SpatialVelocity(V[:3], V[3:]), self.context)
        self.simulator.Initialize()

    def step(self, count=1):
        self.steps += count
        self.simulator.AdvanceTo((self.steps - 0.5) * self.h)

    def positions(self):
        """(n, 3) of the centres."""
        poses = [self.plant.EvalBodyPoseInWorld(self.context, body) for body in self.bodies]
        return np.array([X.translation() for X in poses])

    def velocities(self):
        """(n, 6): rotation, translation."""
        of = self.plant.EvalBodySpatialVelocityInWorld
        return np.array([of(self.context, body).get_coeffs() for body in self.bodies])

    def state(self):
        """Positions and velocities as bytes."""
        return self.plant.GetPositionsAndVelocities(self.context).tobytes()

    def momentum(self):
        return sum(body.default_mass() * v[3:] for body, v in zip(self.bodies, self.velocities(), strict=True))

    def energy(self):
        return self.plant.EvalPotentialEnergy(self.context) + self.plant.EvalKineticEnergy(self.context)

    def heights(self, steps, body=0):
        """z of the centre of one body after each of some steps."""
        found = []
        for _ in range(steps):
            self.step()
            found.append(self.positions()[body, 2])
        return np.array(found)


def inertia_of(shape, mass):
    if isinstance(shape, geometry.Sphere):
        return SpatialInertia.SolidSphereWithMass(mass, shape.radius())
    if isinstance(shape, geometry.Box):
        return SpatialInertia.SolidBoxWithMass(mass, *shape.size())
    return SpatialInertia.SolidCapsuleWithMass(mass, shape.radius(), shape.length(), [0.0, 0.0, 1.0])


def tops(z):
    """The values at which a sequence begins to fall, those of its rests left out."""
    return [b for a, b, c in zip(z, z[1:], z[2:], strict=False) if a < b >= c]
