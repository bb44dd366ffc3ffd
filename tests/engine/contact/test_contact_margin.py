"""Margins of compliant geometries: contacts before solids touch, which leave forces as they are."""

import importlib.util

import numpy as np
import pytest

import mbcli.all
from mbcli import geometry

SHAPES = {
    "Sphere": ((0.1,), 0.0985),
    "Box": ((0.1, 0.2, 0.06), 0.0302),
    "Cylinder": ((0.05, 0.1), 0.0498),
    "Capsule": ((0.05, 0.1), 0.0998),
}


def surface(m, name, margin, time_step=0.0):
    """(faces, area, pressures at their corners) of a compliant shape above a rigid half space, in a program m."""
    measures, height = SHAPES[name]
    config = m.MultibodyPlantConfig(time_step=time_step, contact_model="hydroelastic")
    config.contact_surface_representation = "polygon"
    builder = m.DiagramBuilder()
    plant, _ = m.AddMultibodyPlant(config, builder)
    body = plant.AddRigidBody("b", m.SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    soft, rigid = m.ProximityProperties(), m.ProximityProperties()
    for properties in (soft, rigid):
        m.AddContactMaterial(dissipation=0.0, friction=m.CoulombFriction(0.5, 0.5), properties=properties)
    m.AddCompliantHydroelasticProperties(resolution_hint=0.02, hydroelastic_modulus=1e6, properties=soft)
    m.AddRigidHydroelasticProperties(properties=rigid)
    if margin is not None:
        soft.AddProperty("hydroelastic", "margin", margin)
    plant.RegisterCollisionGeometry(body, m.RigidTransform(), getattr(m, name)(*measures), "b", soft)
    plant.RegisterCollisionGeometry(plant.world_body(), m.RigidTransform(), m.HalfSpace(), "g", rigid)
    plant.Finalize()
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    context = plant.GetMyMutableContextFromRoot(root)
    plant.SetFreeBodyPose(context, body, m.RigidTransform([0.0, 0.0, height]))
    results = plant.get_contact_results_output_port().Eval(context)
    if results.num_hydroelastic_contacts() == 0:
        return 0, 0.0, np.zeros(0)
    found = results.hydroelastic_contact_info(0).contact_surface()
    field = found.poly_e_MN()
    pressures = [field.EvaluateAtVertex(k) for k in range(found.num_vertices())]
    return found.num_faces(), found.total_area(), np.array(pressures)


class Own:
    """mbcli's names, shapes among them."""

    def __getattr__(self, name):
        return getattr(geometry, name, None) or getattr(mbcli.all, name)


@pytest.mark.parametrize("name", SHAPES)
def test_a_margin_adds_faces_of_negative_pressure_around_those_of_positive(name):
    faces, area, pressures = surface(Own(), name, 2e-3)
    without, small, positive = surface(Own(), name, None)
    assert faces > 0 and area > small and pressures.min() < -1e3
    if without:
        assert positive.min() > -1e-6 and pressures.max() == pytest.approx(positive.max(), rel=0.02)


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("margin", [1e-3, 5e-3])
@pytest.mark.parametrize("name", list(SHAPES))
def test_a_margin_makes_the_mesh_that_it_makes_in_pydrake(name, margin):
    if importlib.util.find_spec("pydrake") is None:
        pytest.skip("pydrake is not installed")
    import pydrake.all

    faces, area, pressures = surface(Own(), name, margin)
    wanted_faces, wanted_area, wanted = surface(pydrake.all, name, margin)
    assert faces == wanted_faces and area == pytest.approx(wanted_area, rel=1e-9)
    assert pressures.min() == pytest.approx(wanted.min(), rel=1e-9)
    assert pressures.max() == pytest.approx(wanted.max(), rel=1e-9)
