"""Contexts as text: time, state and parameters of a system, and of the systems of a diagram, in pydrake's form."""

from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import PrismaticJoint, SpatialInertia
from mbcli.systems.framework import BasicVector, DiagramBuilder, LeafSystem, Value
from mbcli.systems.primitives import Gain


class Parts(LeafSystem):
    def __init__(self, continuous=0, discrete=(), objects=0, numeric=()):
        super().__init__()
        if continuous:
            self.DeclareContinuousState(continuous)
        for size in discrete:
            self.DeclareDiscreteState(size)
        for _ in range(objects):
            self.DeclareAbstractState(Value(3))
        for values in numeric:
            self.DeclareNumericParameter(BasicVector(values))


def test_a_context_prints_what_it_holds():
    system = Parts(3, (2, 1), 1, ([7.0],))
    system.set_name("x")
    context = system.CreateDefaultContext()
    context.SetTime(0.125)
    context.SetContinuousState([0.1, 1e-7, 123456789.123])
    assert str(context).splitlines() == [
        "::x Context",
        "------------",
        "Time: 0.125",
        "States:",
        "  3 continuous states",
        "              0.1         1e-07 123456789.123",
        "  2 discrete state groups with",
        "     2 states",
        "       0 0",
        "     1 states",
        "       0",
        "  1 abstract states",
        "",
        "Parameters:",
        "  1 numeric parameter groups with",
        "     1 parameters",
        "       7",
    ]
    assert str(Parts().CreateDefaultContext()).splitlines() == ["::_ Context", "------------", "Time: 0"]


def test_a_diagram_prints_its_systems_that_have_a_state():
    builder = DiagramBuilder()
    builder.AddNamedSystem("one", Parts(2))
    builder.AddNamedSystem("two", Parts(0, (1,)))
    builder.ExportInput(builder.AddNamedSystem("three", Gain(1.0, 2)).get_input_port())
    diagram = builder.Build()
    diagram.set_name("all")
    found = str(diagram.CreateDefaultContext())
    assert found.startswith("::all Context (of a Diagram)\n-----------------------------\n2 total continuous states\n")
    assert "1 total discrete states in 1 groups\n" in found and "::all::one Context\n" in found
    assert "::all::two Context\n" in found and "three" not in found


def test_the_context_of_a_plant_prints_its_state():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
    plant.AddJoint(PrismaticJoint("x", plant.world_frame(), body.body_frame(), [1.0, 0.0, 0.0]))
    plant.Finalize()
    plant.set_name("slide")
    context = plant.CreateDefaultContext()
    context.SetContinuousState([0.5, -2.0])
    lines = str(context).splitlines()
    assert lines[:3] == ["::slide Context", "----------------", "Time: 0"]
    assert lines[3:6] == ["States:", "  2 continuous states", "    0.5  -2"]
