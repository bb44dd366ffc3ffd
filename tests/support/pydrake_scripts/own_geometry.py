"""A system of its own shows frames and geometries that it moves."""

import numpy as np
from pydrake.common.value import Value
from pydrake.geometry import (
    Box,
    Cylinder,
    FramePoseVector,
    GeometryFrame,
    GeometryInstance,
    IllustrationProperties,
    MakePhongIllustrationProperties,
    Meshcat,
    MeshcatVisualizer,
    Role,
    RoleAssign,
    SceneGraph,
    Sphere,
)
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder, LeafSystem


class Crane(LeafSystem):
    """Turns a boom, on which a trolley runs, and shows both."""

    def __init__(self, scene_graph):
        super().__init__()
        self.DeclareContinuousState(2)
        source = self.source = scene_graph.RegisterSource("crane")
        self.boom, self.trolley = GeometryFrame("boom"), GeometryFrame("trolley", 3)
        scene_graph.RegisterFrame(source, self.boom)
        scene_graph.RegisterFrame(source, self.boom.id(), self.trolley)
        beam = GeometryInstance(RigidTransform([1, 0, 0]), Box(2.0, 0.1, 0.1), "beam")
        beam.set_illustration_properties(MakePhongIllustrationProperties([0.9, 0.1, 0.1, 1.0]))
        self.beam = scene_graph.RegisterGeometry(source, self.boom.id(), beam)
        self.hook = scene_graph.RegisterGeometry(
            source, self.trolley.id(), GeometryInstance(RigidTransform([0, 0, -0.5]), Sphere(0.1), "hook")
        )
        scene_graph.AssignRole(source, self.hook, IllustrationProperties())
        mast = GeometryInstance(RigidTransform([0, 0, -1]), Cylinder(0.1, 2.0), "mast")
        mast.set_illustration_properties(MakePhongIllustrationProperties([0.5, 0.5, 0.5, 1.0]))
        self.mast = scene_graph.RegisterAnchoredGeometry(source, mast)
        self.DeclareAbstractOutputPort("pose", lambda: Value(FramePoseVector()), self.CalcPoses)

    def DoCalcTimeDerivatives(self, context, derivatives):
        derivatives.get_mutable_vector().SetFromVector([0.7, 0.25 * np.cos(context.get_time())])

    def CalcPoses(self, context, output):
        angle, travel = context.get_continuous_state_vector().CopyToVector()
        poses = output.get_mutable_value()
        poses.clear()
        poses.set_value(self.boom.id(), RigidTransform(RollPitchYaw(0, 0, angle), [0, 0, 1]))
        poses.set_value(self.trolley.id(), RigidTransform([0.5 + travel, 0, 0]))


builder = DiagramBuilder()
scene_graph = builder.AddSystem(SceneGraph())
crane = builder.AddSystem(Crane(scene_graph))
other = scene_graph.RegisterSource("other")
print([scene_graph.get_input_port(k).get_name() for k in range(scene_graph.num_input_ports())])
builder.Connect(crane.get_output_port(), scene_graph.get_source_pose_port(crane.source))
MeshcatVisualizer.AddToBuilder(builder, scene_graph, Meshcat())
diagram = builder.Build()
inspector = scene_graph.model_inspector()
print(inspector.num_sources(), inspector.num_frames(), inspector.num_geometries())
print(inspector.GetName(crane.boom.id()), inspector.GetName(crane.hook), inspector.GetName(crane.source))
print(inspector.GetFrameGroup(crane.trolley.id()), inspector.NumGeometriesWithRole(Role.kIllustration))
print(inspector.NumAnchoredGeometries(), inspector.NumDynamicGeometries(), inspector.GetOwningSourceName(crane.mast))
simulator = Simulator(diagram)
for end in (0.5, 1.0):
    simulator.AdvanceTo(end)
    query = scene_graph.get_query_output_port().Eval(scene_graph.GetMyContextFromRoot(simulator.get_context()))
    for frame in (crane.boom.id(), crane.trolley.id()):
        print(
            np.round(query.GetPoseInWorld(frame).translation(), 6),
            np.round(query.GetPoseInParent(frame).translation(), 6),
        )
    print(np.round(query.GetPoseInWorld(crane.hook).GetAsMatrix4(), 6))
    print(query.HasCollisions(), len(query.ComputePointPairPenetration()))
for kind, call in {
    "twice": lambda: scene_graph.RegisterFrame(crane.source, crane.boom),
    "same name": lambda: scene_graph.RegisterFrame(crane.source, GeometryFrame("boom")),
    "again": lambda: scene_graph.AssignRole(crane.source, crane.hook, IllustrationProperties()),
    "other source": lambda: scene_graph.RegisterGeometry(
        other, crane.boom.id(), GeometryInstance(RigidTransform(), Sphere(1), "s")
    ),
    "replaced": lambda: scene_graph.AssignRole(
        crane.source, crane.hook, MakePhongIllustrationProperties([1, 1, 0, 1]), RoleAssign.kReplace
    ),
}.items():
    try:
        print(kind, call())
    except RuntimeError:
        print(kind, "RuntimeError")
