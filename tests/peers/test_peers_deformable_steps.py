"""Deformable bodies in motion beside pydrake: the same meshes, materials and steps."""

from importlib import import_module

import numpy as np
import pytest
from elastic_meshes import box_mesh

pytestmark = pytest.mark.peers("pydrake")


def write_box(path, cells, size):
    points, tets = box_mesh(cells, size)
    inverted = np.linalg.det(points[tets[:, 1:]] - points[tets[:, :1]]) < 0
    tets[inverted, 2:] = tets[inverted, 3:1:-1]
    lines = ["# vtk DataFile Version 3.0", "box", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines += [f"POINTS {len(points)} double", *(" ".join(map(repr, map(float, p))) for p in points)]
    lines += [f"CELLS {len(tets)} {5 * len(tets)}", *(f"4 {a} {b} {c} {d}" for a, b, c, d in tets)]
    lines += [f"CELL_TYPES {len(tets)}", *("10" for _ in tets)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def positions(library, path, times, E, nu, model, dampings, wall=None, ground=None, height=0.0, dt=0.01):
    """Positions (times, n, 3) of a box, and the last contact forces."""
    geometry, math, fem, plants, analysis, framework = (
        import_module(f"{library}.{name}")
        for name in ("geometry", "math", "multibody.fem", "multibody.plant", "systems.analysis", "systems.framework")
    )
    builder = framework.DiagramBuilder()
    plant, _ = plants.AddMultibodyPlantSceneGraph(builder, dt)
    plant.set_discrete_contact_approximation(plants.DiscreteContactApproximation.kSap)
    friction = geometry.ProximityProperties()
    geometry.AddContactMaterial(properties=friction, friction=plants.CoulombFriction(0.5, 0.5))
    instance = geometry.GeometryInstance(math.RigidTransform([0.0, 0.0, height]), geometry.Mesh(path), "soft")
    instance.set_proximity_properties(friction)
    config = fem.DeformableBodyConfig()
    config.set_youngs_modulus(E)
    config.set_poissons_ratio(nu)
    config.set_mass_density(1000.0)
    config.set_material_model(getattr(fem.MaterialModel, model))
    config.set_mass_damping_coefficient(dampings[0])
    config.set_stiffness_damping_coefficient(dampings[1])
    soft = plant.mutable_deformable_model()
    body = soft.RegisterDeformableBody(instance, config, 1.0)
    if wall is not None:
        soft.SetWallBoundaryCondition(body, *wall)
    if ground:
        X = math.RigidTransform([0.0, 0.0, -0.5])
        plant.RegisterCollisionGeometry(plant.world_body(), X, geometry.Box(10.0, 10.0, 1.0), "ground", friction)
    plant.Finalize()
    diagram = builder.Build()
    simulator = analysis.Simulator(diagram)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    found = []
    for t in times:
        simulator.AdvanceTo(t)
        found.append(np.array(soft.GetPositions(context, body)).T.copy())
    results = plant.get_contact_results_output_port().Eval(context)
    infos = [results.deformable_contact_info(i) for i in range(results.num_deformable_contacts())]
    return np.array(found), [np.array(info.F_Ac_W().translational()) for info in infos]


@pytest.mark.parametrize("model", ["kLinear", "kLinearCorotated", "kCorotated", "kNeoHookean"])
def test_a_bar_swings_along_itself_as_in_pydrake(tmp_path, model):
    path = write_box(tmp_path / "bar.vtk", (2, 2, 10), (0.1, 0.1, 1.0))
    wall, times = ([0.0, 0.0, 0.499], [0.0, 0.0, -1.0]), np.arange(1, 21) * 0.01
    ours, theirs = (
        positions(library, path, times, 1e6, 0.3, model, (0.0, 0.0), wall)[0] for library in ("mbcli", "pydrake")
    )
    low = theirs[0, :, 2] < -0.499
    travel = np.abs(theirs[:, low, 2] + 0.5).max()
    assert travel > 0.007
    assert np.abs(ours[:, low, 2].mean(axis=1) - theirs[:, low, 2].mean(axis=1)).max() < 0.02 * travel


def test_a_box_rests_as_in_pydrake(tmp_path):
    path = write_box(tmp_path / "box.vtk", (4, 4, 4), (0.2, 0.2, 0.2))
    found = [
        positions(library, path, [0.8], 1e5, 0.3, "kLinearCorotated", (0.0, 0.01), ground=True, height=0.1)
        for library in ("mbcli", "pydrake")
    ]
    (ours, our_forces), (theirs, their_forces) = found
    assert sum(our_forces) == pytest.approx(sum(their_forces), abs=5e-3)
    assert np.ptp(ours[0, :, 2]) == pytest.approx(np.ptp(theirs[0, :, 2]), abs=1e-4)  # compressed by 1.5 mm
    assert np.abs(ours[0] - theirs[0]).max() < 3e-4
