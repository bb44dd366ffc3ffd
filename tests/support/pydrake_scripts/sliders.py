"""Joints by sliders of a page that nobody opens."""

from pydrake.geometry import Rgba, Sphere, StartMeshcat
from pydrake.math import RigidTransform
from pydrake.multibody.meshcat import JointSliders
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
from pydrake.systems.framework import DiagramBuilder
from pydrake.visualization import AddDefaultVisualization

URDF = """<robot name="arm"><link name="base"/><link name="a"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial><visual><geometry><box size="1 0.1 0.1"/></geometry></visual></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="2" effort="1" velocity="1"/></joint>
<joint name="slide" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="1 0 0"/>
<limit lower="0" upper="0.5" effort="1" velocity="1"/></joint></robot>"""
meshcat = StartMeshcat()
meshcat.SetObject("mark", Sphere(0.05), Rgba(1, 0, 0, 1))
meshcat.SetTransform("mark", RigidTransform([0, 0, 1]))
print(meshcat.HasPath("mark"), meshcat.HasPath("nothing"))
builder = DiagramBuilder()
plant, scene_graph = AddMultibodyPlantSceneGraph(builder, 0.0)
Parser(plant).AddModelsFromString(URDF, "urdf")
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
plant.Finalize()
AddDefaultVisualization(builder, meshcat)
sliders = builder.AddNamedSystem("sliders", JointSliders(meshcat, plant, initial_value=[0.1, 0.2]))
diagram = builder.Build()
context = diagram.CreateDefaultContext()
port = sliders.get_output_port()
print(meshcat.GetSliderNames(), port.size())
print(port.Eval(sliders.GetMyContextFromRoot(context)))
for turn, slide in ((0.5, 0.3), (5.0, -1.0), (-0.7, 0.123456)):
    meshcat.SetSliderValue("turn", turn)
    meshcat.SetSliderValue("slide", slide)
    q = port.Eval(sliders.GetMyContextFromRoot(context))
    print(q, [meshcat.GetSliderValue(name) for name in meshcat.GetSliderNames()])
    plant.SetPositions(plant.GetMyMutableContextFromRoot(context), q)
    diagram.ForcedPublish(context)
    print(plant.EvalBodyPoseInWorld(plant.GetMyContextFromRoot(context), plant.GetBodyByName("b")).translation())
sliders.SetPositions([0.25, 0.4])
print(port.Eval(sliders.GetMyContextFromRoot(context)))
sliders.Delete()
print(meshcat.GetSliderNames())
meshcat.AddButton("go")
print(meshcat.GetButtonClicks("go"), len(meshcat.StaticHtml()) > 1000)
meshcat.DeleteButton("go")
meshcat.Delete("mark")
print(meshcat.HasPath("mark"))
