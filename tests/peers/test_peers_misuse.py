"""What is wrong in a script ends in the same class of exception as under pydrake, or in one derived from it."""

from importlib import import_module

import numpy as np
import pytest

pytestmark = pytest.mark.peers("pydrake")
MODULES = {
    "plant": "multibody.plant",
    "tree": "multibody.tree",
    "smath": "multibody.math",
    "parsing": "multibody.parsing",
    "framework": "systems.framework",
    "primitives": "systems.primitives",
    "analysis": "systems.analysis",
    "controllers": "systems.controllers",
    "geometry": "geometry",
    "math": "math",
    "solvers": "solvers",
    "trajectories": "trajectories",
    "autodiff": "autodiffutils",
    "value": "common.value",
    "eigen": "common.eigen_geometry",
}


class Library:
    """Modules of pydrake or mbcli, and a pendulum of it."""

    def __init__(self, root):
        for name, path in MODULES.items():
            setattr(self, name, import_module(f"{root}.{path}"))

    def pendulum(self, finalize=True, time_step=0.0):
        plant = self.plant.MultibodyPlant(time_step)
        inertia = self.tree.SpatialInertia(1.0, [0, 0, -1], self.tree.UnitInertia(1.0, 1.0, 0.1))
        body = plant.AddRigidBody("bob", inertia)
        joint = plant.AddJoint(self.tree.RevoluteJoint("pin", plant.world_frame(), body.body_frame(), [0, 1, 0]))
        plant.AddJointActuator("motor", joint)
        if finalize:
            plant.Finalize()
        return plant

    def context(self):
        plant = self.pendulum()
        return plant, plant.CreateDefaultContext()


def of_plant(act):
    return lambda lib: act(lib, *lib.context())


def unfinished(act):
    return lambda lib: act(lib, lib.pendulum(finalize=False))


CASES = {
    # before and after Finalize()
    "context before Finalize": unfinished(lambda lib, p: p.CreateDefaultContext()),
    "Finalize twice": of_plant(lambda lib, p, c: p.Finalize()),
    "body after Finalize": of_plant(lambda lib, p, c: p.AddRigidBody("x", lib.tree.SpatialInertia.NaN())),
    "actuator after Finalize": of_plant(lambda lib, p, c: p.AddJointActuator("x", p.GetJointByName("pin"))),
    "instance after Finalize": of_plant(lambda lib, p, c: p.AddModelInstance("x")),
    "positions before Finalize": unfinished(lambda lib, p: p.num_positions()),
    "gravity after Finalize": of_plant(lambda lib, p, c: p.mutable_gravity_field().set_gravity_vector([0, 0])),
    "negative step": lambda lib: lib.plant.MultibodyPlant(-0.1),
    "no step": lambda lib: lib.plant.MultibodyPlant(),
    "step of text": lambda lib: lib.plant.MultibodyPlant("fast"),
    # names
    "no such body": of_plant(lambda lib, p, c: p.GetBodyByName("nobody")),
    "no such joint": of_plant(lambda lib, p, c: p.GetJointByName("no")),
    "no such frame": of_plant(lambda lib, p, c: p.GetFrameByName("no")),
    "no such actuator": of_plant(lambda lib, p, c: p.GetJointActuatorByName("no")),
    "no such instance": of_plant(lambda lib, p, c: p.GetModelInstanceByName("no")),
    "two bodies of a name": unfinished(lambda lib, p: p.AddRigidBody("bob", lib.tree.SpatialInertia.NaN())),
    "two joints of a name": unfinished(
        lambda lib, p: p.AddJoint(lib.tree.RevoluteJoint("pin", p.world_frame(), p.GetFrameByName("bob"), [1, 0, 0]))
    ),
    "two instances of a name": unfinished(lambda lib, p: [p.AddModelInstance("a") for _ in range(2)]),
    "no such port": of_plant(lambda lib, p, c: p.GetInputPort("no")),
    "no such output": of_plant(lambda lib, p, c: p.GetOutputPort("no")),
    # contexts and states
    "context of another plant": of_plant(lambda lib, p, c: p.CalcMassMatrix(lib.pendulum().CreateDefaultContext())),
    "positions of another length": of_plant(lambda lib, p, c: p.SetPositions(c, [1.0, 2.0])),
    "velocities of another length": of_plant(lambda lib, p, c: p.SetVelocities(c, [])),
    "state of another length": of_plant(lambda lib, p, c: p.SetPositionsAndVelocities(c, [1.0])),
    "positions of text": of_plant(lambda lib, p, c: p.SetPositions(c, ["a"])),
    "positions of nothing": of_plant(lambda lib, p, c: p.SetPositions(c)),
    "context of a number": of_plant(lambda lib, p, c: p.GetPositions(3.0)),
    "root context for a plant": lambda lib: root_context(lib),
    "vdot of another length": of_plant(
        lambda lib, p, c: p.CalcInverseDynamics(c, [1.0, 2.0], lib.tree.MultibodyForces(p))
    ),
    "forces of another plant": of_plant(
        lambda lib, p, c: p.CalcInverseDynamics(c, [1.0], lib.tree.MultibodyForces(3, 4))
    ),
    "fixed input of another length": of_plant(lambda lib, p, c: p.get_actuation_input_port().FixValue(c, [1.0, 2.0])),
    "pose of a body that a joint holds": of_plant(
        lambda lib, p, c: p.SetFreeBodyPose(c, p.GetBodyByName("bob"), lib.math.RigidTransform())
    ),
    "a joint of another plant": of_plant(lambda lib, p, c: lib.pendulum().GetJointByName("pin").set_angle(c, 1.0)),
    "lock in a continuous plant": of_plant(lambda lib, p, c: p.GetJointByName("pin").Lock(c)),
    # parameters
    "negative damping": unfinished(
        lambda lib, p: lib.tree.RevoluteJoint("x", p.world_frame(), p.world_frame(), [0, 0, 1], damping=-1.0)
    ),
    "axis of zero length": unfinished(
        lambda lib, p: lib.tree.RevoluteJoint("x", p.world_frame(), p.world_frame(), [0, 0, 0])
    ),
    "effort limit of zero": unfinished(lambda lib, p: p.AddJointActuator("x", p.GetJointByName("pin"), 0.0)),
    "friction that grows": lambda lib: lib.plant.CoulombFriction(0.1, 0.5),
    "negative friction": lambda lib: lib.plant.CoulombFriction(-0.1, -0.5),
    "negative mass": lambda lib: lib.tree.SpatialInertia(-1.0, [0, 0, 0], lib.tree.UnitInertia(1.0, 1.0, 1.0)),
    "negative radius": lambda lib: lib.geometry.Sphere(-1.0),
    "box without depth": lambda lib: lib.geometry.Box(1.0, 0.0, 1.0),
    # transforms
    "rotation of another shape": lambda lib: lib.math.RotationMatrix(np.eye(4)),
    "transform of text": lambda lib: lib.math.RigidTransform("here"),
    "quaternion of another norm": lambda lib: lib.math.RigidTransform(
        import_module(lib.math.__name__.split(".")[0] + ".common.eigen_geometry").Quaternion([1.0, 1.0, 0, 0]),
        [0, 0, 0],
    ),
    "spatial vector of another length": lambda lib: lib.smath.SpatialVelocity(V=[1.0, 2.0]),
    # systems
    "connect what does not fit": lambda lib: connected(lib, 2, 3),
    "connect twice": lambda lib: connected(lib, 2, 2, times=2),
    "add what is no system": lambda lib: lib.framework.DiagramBuilder().AddSystem(object()),
    "build nothing": lambda lib: lib.framework.DiagramBuilder().Build(),
    "advance to the past": lambda lib: advanced(lib, [0.1, 0.05]),
    "gain of another length": lambda lib: lib.primitives.LinearSystem(np.eye(2), np.eye(3), np.eye(2), np.eye(2)),
    "evaluate a port without a value": lambda lib: without_value(lib),
    "regulator that cannot be": lambda lib: lib.controllers.LinearQuadraticRegulator(
        np.eye(2), np.zeros((2, 1)), np.eye(2), np.eye(1)
    ),
    "costs of another size": lambda lib: lib.controllers.LinearQuadraticRegulator(
        np.eye(2), np.ones((2, 1)), np.eye(3), np.eye(1)
    ),
    # programs, curves, numbers
    "a cost of foreign variables": lambda lib: foreign(lib),
    "bounds of another length": lambda lib: bounds(lib),
    "breaks that do not increase": lambda lib: lib.trajectories.PiecewisePolynomial.FirstOrderHold([0, 0], [[1, 2]]),
    "samples of another length": lambda lib: lib.trajectories.PiecewisePolynomial.FirstOrderHold([0, 1], [[1, 2, 3]]),
    "a float of a dual number": lambda lib: float(lib.autodiff.AutoDiffXd(1, [1.0])),
    # files
    "a file that is not there": unfinished(lambda lib, p: lib.parsing.Parser(p).AddModels("no_such_file.urdf")),
    "a file of another kind": unfinished(lambda lib, p: lib.parsing.Parser(p).AddModels("no_such_file.docx")),
    "text that is no model": unfinished(lambda lib, p: lib.parsing.Parser(p).AddModelsFromString("<robot", "urdf")),
    "a package that nobody knows": unfinished(
        lambda lib, p: lib.parsing.Parser(p).AddModels(url="package://nobody/x.urdf")
    ),
}


def root_context(lib):
    builder = lib.framework.DiagramBuilder()
    plant = builder.AddSystem(lib.pendulum())
    plant.GetPositions(builder.Build().CreateDefaultContext())


def connected(lib, n, m, times=1):
    builder = lib.framework.DiagramBuilder()
    a, b = builder.AddSystem(lib.primitives.Gain(1.0, n)), builder.AddSystem(lib.primitives.Gain(1.0, m))
    for _ in range(times):
        builder.Connect(a.get_output_port(), b.get_input_port())


def advanced(lib, times):
    simulator = lib.analysis.Simulator(lib.pendulum())
    for time in times:
        simulator.AdvanceTo(time)


def without_value(lib):
    gain = lib.primitives.Gain(1.0, 2)
    gain.get_output_port().Eval(gain.CreateDefaultContext())


def foreign(lib):
    other = lib.solvers.MathematicalProgram().NewContinuousVariables(2)
    lib.solvers.MathematicalProgram().AddLinearCost([1.0, 2.0], other)


def bounds(lib):
    program = lib.solvers.MathematicalProgram()
    program.AddLinearConstraint(np.eye(2), [0.0], [1.0], program.NewContinuousVariables(2))


def test_there_are_enough_cases():
    assert len(CASES) >= 60


@pytest.mark.parametrize("case", CASES)
def test_misuse_ends_in_the_same_class_of_exception(case):
    with pytest.raises(BaseException) as theirs:  # noqa: PT011, B017
        CASES[case](Library("pydrake"))
    with pytest.raises(BaseException) as ours:  # noqa: PT011, B017
        CASES[case](Library("mbcli"))
    kind = RuntimeError if theirs.type is SystemExit else theirs.type  # an assertion of C++: here it can be caught
    assert issubclass(ours.type, kind), f"{ours.type.__name__}, pydrake {theirs.type.__name__}: {theirs.value}"
