"""A bar of a few tetrahedra bends under gravity: pydrake's other step differs by a few tenths of a millimetre."""

from pathlib import Path

import numpy as np
from pydrake.geometry import GeometryInstance, Mesh, ProximityProperties
from pydrake.math import RigidTransform
from pydrake.multibody.fem import DeformableBodyConfig
from pydrake.multibody.plant import AddMultibodyPlant, MultibodyPlantConfig
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

builder = DiagramBuilder()
plant, scene_graph = AddMultibodyPlant(
    MultibodyPlantConfig(time_step=0.01, discrete_contact_approximation="lagged"), builder
)
if hasattr(plant, "set_step_scheme"):  # steps of pydrake are those of this scheme
    plant.set_step_scheme("drake")
model = plant.mutable_deformable_model()
config = DeformableBodyConfig()
config.set_youngs_modulus(2e5)
config.set_poissons_ratio(0.3)
config.set_mass_density(500.0)
config.set_stiffness_damping_coefficient(0.02)
VTK = """# vtk DataFile Version 3.0
bar
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 12 double
"""
grid = [(x, y, z) for x in (-0.2, 0.0, 0.2) for y in (-0.05, 0.05) for z in (-0.05, 0.05)]
VTK += "\n".join(f"{x} {y} {z}" for x, y, z in grid)
cells = []
for k in (0, 4):  # two cubes of six tetrahedra around their diagonals
    corner = [k + n for n in range(8)]
    for a, b in ((1, 3), (3, 2), (2, 6), (6, 4), (4, 5), (5, 1)):
        edges = [np.subtract(grid[corner[n]], grid[corner[0]]) for n in (7, a, b)]
        a, b = (b, a) if np.linalg.det(edges) < 0 else (a, b)
        cells.append((corner[0], corner[7], corner[a], corner[b]))
VTK += f"\nCELLS {len(cells)} {5 * len(cells)}\n" + "\n".join("4 " + " ".join(map(str, cell)) for cell in cells)
VTK += f"\nCELL_TYPES {len(cells)}\n" + "\n".join(["10"] * len(cells)) + "\n"
Path("bar.vtk").write_text(VTK)
instance = GeometryInstance(RigidTransform([0, 0, 1.0]), Mesh(str(Path("bar.vtk").resolve())), "bar")
instance.set_proximity_properties(ProximityProperties())
body = model.RegisterDeformableBody(instance, config, 0.05)
model.SetWallBoundaryCondition(body, [-0.19, 0, 1], [1, 0, 0])
plant.Finalize()
diagram = builder.Build()
simulator = Simulator(diagram)
context = plant.GetMyContextFromRoot(simulator.get_context())
mesh = scene_graph.model_inspector().GetReferenceMesh(model.GetGeometryId(body))
print(plant.deformable_model().num_bodies(), mesh.num_vertices(), mesh.num_elements())
for end in (0.05, 0.2):
    simulator.AdvanceTo(end)
    positions = model.GetPositions(context, body)
    print(end, *(np.round(f(positions, axis=1), 2) + 0.0 for f in (np.mean, np.min, np.max)))
