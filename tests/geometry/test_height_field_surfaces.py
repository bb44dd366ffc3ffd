"""Height fields in contact surfaces: rigid ones as half spaces where they are flat; none is compliant."""

import numpy as np
import pytest

from mbcli.errors import ModelError
from mbcli.geometry import (
    AddCompliantHydroelasticProperties,
    AddContactMaterial,
    AddRigidHydroelasticProperties,
    HalfSpace,
    HeightField,
    ProximityProperties,
    Sphere,
)
from mbcli.math import RigidTransform
from mbcli.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from mbcli.multibody.tree import SpatialInertia
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder


def properties(compliant):
    found = ProximityProperties()
    AddContactMaterial(1.0, None, CoulombFriction(0.5, 0.5), found)
    if compliant:
        AddCompliantHydroelasticProperties(0.04, 1e5, found)
    else:
        AddRigidHydroelasticProperties(1.0, found)
    return found


def dropped(ground, compliant=False):
    """The height of a soft ball over a ground after 0.1 s."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlant(MultibodyPlantConfig(time_step=5e-3, contact_model="hydroelastic"), builder)
    ball = plant.AddRigidBody("ball", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    plant.RegisterCollisionGeometry(ball, RigidTransform(), Sphere(0.1), "ball", properties(True))
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), ground, "ground", properties(compliant))
    plant.Finalize()
    simulator = Simulator(builder.Build())
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    plant.SetFreeBodyPose(context, ball, RigidTransform([0.013, 0.02, 0.098]))
    simulator.AdvanceTo(0.1)
    return plant.GetPositions(context)[6]


def test_a_soft_ball_sinks_into_a_rigid_field_as_into_a_half_space(ready_kernels):
    height = dropped(HeightField(np.zeros((9, 9)), 0.5, 0.5, 0.2))
    assert height < 0.097
    assert height == pytest.approx(dropped(HalfSpace()), abs=1e-5)


def test_a_compliant_height_field_is_refused(ready_kernels):
    with pytest.raises(ModelError, match="HeightField: there is no pressure field for this shape"):
        dropped(HeightField(np.zeros((3, 3)), 1.0, 1.0, 0.2), compliant=True)
