"""Compliant bodies settle on a rigid floor."""

import numpy as np
from pydrake.geometry import (
    AddCompliantHydroelasticProperties,
    AddContactMaterial,
    AddRigidHydroelasticProperties,
    Box,
    ProximityProperties,
    Sphere,
)
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from pydrake.multibody.tree import SpatialInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

builder = DiagramBuilder()
plant, scene_graph = AddMultibodyPlant(
    MultibodyPlantConfig(time_step=0.005, contact_model="hydroelastic", discrete_contact_approximation="lagged"),
    builder,
)
if hasattr(plant, "set_step_scheme"):  # steps of pydrake are those of this scheme
    plant.set_step_scheme("drake")
floor = ProximityProperties()
AddRigidHydroelasticProperties(0.5, floor)
AddContactMaterial(dissipation=1.0, friction=CoulombFriction(0.8, 0.8), properties=floor)
plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform([0, 0, -0.1]), Box(4, 4, 0.2), "floor", floor)
soft = ProximityProperties()
AddCompliantHydroelasticProperties(0.05, 1e6, soft)
AddContactMaterial(dissipation=1.0, friction=CoulombFriction(0.5, 0.5), properties=soft)
names = ["ball", "block"]
for name, shape, inertia in (
    ("ball", Sphere(0.1), SpatialInertia.SolidSphereWithMass(1.0, 0.1)),
    ("block", Box(0.2, 0.3, 0.1), SpatialInertia.SolidBoxWithMass(2.0, 0.2, 0.3, 0.1)),
):
    body = plant.AddRigidBody(name, inertia)
    plant.RegisterCollisionGeometry(body, RigidTransform(), shape, name, soft)
plant.Finalize()
diagram = builder.Build()
simulator = Simulator(diagram)
context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
plant.SetFreeBodyPose(context, plant.GetBodyByName("ball"), RigidTransform([0.5, 0, 0.095]))
plant.SetFreeBodyPose(
    context, plant.GetBodyByName("block"), RigidTransform(RollPitchYaw(0.02, -0.03, 0.3), [-0.5, 0, 0.052])
)
results = plant.get_contact_results_output_port().Eval(context)
print(results.num_point_pair_contacts(), results.num_hydroelastic_contacts())
rows = []
for k in range(results.num_hydroelastic_contacts()):
    info = results.hydroelastic_contact_info(k)
    surface, F = info.contact_surface(), info.F_Ac_W()
    rows.append(
        [surface.total_area(), *np.abs(surface.centroid()), *np.abs(F.translational()), *np.abs(F.rotational())]
    )
for row in sorted(rows):
    print(np.round(row, 6))
simulator.AdvanceTo(0.3)
for name in names:
    X = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName(name))
    print(name, np.round(X.GetAsMatrix4(), 3) + 0.0)
