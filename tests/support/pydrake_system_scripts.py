"""Scripts in the manner of tutorials and lectures that were written for pydrake, with systems of all kinds."""

PENDULUM = '''
import numpy as np
from pydrake.all import *

URDF = """<robot name="pendulum"><link name="base"/><link name="bob"><inertial><origin xyz="0 0 -0.5"/>
<mass value="1.5"/><inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pin" type="revolute"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/><limit effort="100"
lower="-10" upper="10" velocity="100"/><dynamics damping="0.1"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="pin"/>
<actuator name="motor"/></transmission></robot>"""


def pendulum(builder, h):
    plant, scene_graph = AddMultibodyPlantSceneGraph(builder, time_step=h)
    if hasattr(plant, "set_step_scheme"):  # steps of pydrake are those of this scheme
        plant.set_step_scheme("drake")
    Parser(plant).AddModelsFromString(URDF, "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.Finalize()
    return plant
'''

SCRIPTS = {
    "own_dynamics": """
import numpy as np
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import BasicVector, DiagramBuilder, LeafSystem
from pydrake.systems.primitives import LogVectorOutput


class VanDerPol(LeafSystem):
    def __init__(self, mu):
        LeafSystem.__init__(self)
        self.mu = mu
        index = self.DeclareContinuousState(1, 1, 0)
        self.DeclareStateOutputPort("state", index)
        self.DeclareVectorOutputPort("energy", BasicVector(1), self.CalcEnergy, {self.all_state_ticket()})

    def DoCalcTimeDerivatives(self, context, derivatives):
        x = context.get_continuous_state_vector()
        q, v = x.GetAtIndex(0), x[1]
        derivatives.get_mutable_vector().SetFromVector([v, self.mu * (1 - q * q) * v - q])

    def CalcEnergy(self, context, output):
        x = context.get_continuous_state_vector().CopyToVector()
        output.SetAtIndex(0, 0.5 * x @ x)


builder = DiagramBuilder()
system = builder.AddSystem(VanDerPol(1.5))
log = LogVectorOutput(system.GetOutputPort("state"), builder, 0.05)
energy = LogVectorOutput(system.GetOutputPort("energy"), builder, 0.05)
diagram = builder.Build()
simulator = Simulator(diagram)
context = simulator.get_mutable_context()
context.SetContinuousState([0.5, 0.0])
integrator = simulator.get_mutable_integrator()
integrator.set_fixed_step_mode(True)
integrator.set_maximum_step_size(0.01)
simulator.Initialize()
simulator.AdvanceTo(2.0)
print("log", log.FindLog(context).sample_times()[:4], log.FindLog(context).data()[:, ::8])
print("energy", energy.FindLog(context).data()[0, -3:], energy.FindLog(context).num_samples())
print("steps", simulator.get_num_steps_taken(), simulator.get_num_publishes())
print("sizes", context.num_continuous_states(), context.get_continuous_state().num_q(), diagram.num_output_ports())
""",
    "pid_on_a_pendulum": PENDULUM
    + """
builder = DiagramBuilder()
plant = pendulum(builder, 0.002)
pid = builder.AddSystem(PidController(kp=[40.0], ki=[5.0], kd=[4.0]))
builder.Connect(plant.get_state_output_port(), pid.get_input_port_estimated_state())
builder.Connect(pid.get_output_port_control(), plant.get_actuation_input_port())
source = builder.AddSystem(ConstantVectorSource([1.0, 0.0]))
builder.Connect(source.get_output_port(), pid.get_input_port_desired_state())
logger = LogVectorOutput(plant.get_state_output_port(), builder)
control = LogVectorOutput(pid.get_output_port_control(), builder, publish_period=0.1)
diagram = builder.Build()
simulator = Simulator(diagram)
root = simulator.get_mutable_context()
plant.SetPositions(plant.GetMyMutableContextFromRoot(root), [0.2])
ResetIntegratorFromFlags(simulator, "runge_kutta3", 0.002)
simulator.get_mutable_integrator().set_fixed_step_mode(True)
simulator.Initialize()
status = simulator.AdvanceTo(1.0)
log = logger.FindLog(root)
print("state", log.data()[:, [0, 1, 2, 100, 400, -1]], log.num_samples())
print("u", control.FindLog(root).data(), control.FindLog(root).sample_times())
print("integral", pid.GetMyContextFromRoot(root).get_continuous_state_vector().CopyToVector())
print("end", status.return_time(), status.reason().name, status.succeeded(), root.get_time())
""",
    "lqr_of_a_cart_pole": '''
import numpy as np
from pydrake.all import *

MODEL = """<sdf version="1.7"><model name="cartpole"><link name="world_link"/><joint name="w" type="fixed">
<parent>world</parent><child>world_link</child></joint>
<link name="cart"><inertial><mass>2.0</mass></inertial></link>
<link name="pole"><pose>0 0 -0.5 0 0 0</pose><inertial><mass>0.5</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy>
<izz>0.01</izz></inertia></inertial></link>
<joint name="x" type="prismatic"><parent>world_link</parent><child>cart</child><axis><xyz>1 0 0</xyz></axis></joint>
<joint name="theta" type="revolute"><pose>0 0 0.5 0 0 0</pose><parent>cart</parent><child>pole</child><axis>
<xyz>0 -1 0</xyz><limit><effort>0</effort></limit></axis></joint></model></sdf>"""
builder = DiagramBuilder()
plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
Parser(plant).AddModelsFromString(MODEL, "sdf")
plant.Finalize()
context = plant.CreateDefaultContext()
plant.get_actuation_input_port().FixValue(context, [0.0])
plant.SetPositions(context, [0.0, np.pi])
Q, R = np.diag([10.0, 10.0, 1.0, 1.0]), np.array([[1.0]])
lqr = LinearQuadraticRegulator(
    plant, context, Q, R, input_port_index=int(plant.get_actuation_input_port().get_index())
)
print("gains", lqr.D(), lqr.y0())
ports = plant.get_actuation_input_port().get_index(), plant.get_state_output_port().get_index()
linear = Linearize(plant, context, *ports)
print("controllable", IsControllable(linear), ControllabilityMatrix(linear))
K, S = LinearQuadraticRegulator(linear.A(), linear.B(), Q, R)
print("S", K, S)
controller = builder.AddSystem(lqr)
builder.Connect(plant.get_state_output_port(), controller.get_input_port())
builder.Connect(controller.get_output_port(), plant.get_actuation_input_port())
diagram = builder.Build()
simulator = Simulator(diagram)
root = simulator.get_mutable_context()
own = plant.GetMyMutableContextFromRoot(root)
plant.SetPositionsAndVelocities(own, [0.1, np.pi - 0.2, 0.0, 0.3])
integrator = simulator.get_mutable_integrator()
integrator.set_maximum_step_size(0.01)
integrator.set_fixed_step_mode(True)
for t in (0.5, 1.0, 4.0):
    simulator.AdvanceTo(t)
    print("x", root.get_time(), plant.GetPositionsAndVelocities(own), controller.get_output_port().Eval(
        controller.GetMyContextFromRoot(root)))
''',
    "inverse_dynamics_control": '''
import numpy as np
from pydrake.all import *

links = "".join(
    f"""<link name="l{k}"><inertial><origin xyz="0.1 0 0.2"/><mass value="{2 - 0.5 * k}"/>
<inertia ixx="0.03" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j{k}" type="revolute"><parent link="{'base' if k == 0 else f'l{k - 1}'}"/><child link="l{k}"/>
<origin xyz="0 0 0.3"/><axis xyz="{'0 0 1' if k == 0 else '0 1 0'}"/><limit effort="200" lower="-3" upper="3"
velocity="10"/></joint><transmission name="t{k}"><type>transmission_interface/SimpleTransmission</type>
<joint name="j{k}"/><actuator name="m{k}"/></transmission>"""
    for k in range(3)
)
URDF = f'<robot name="arm"><link name="base"/>{links}</robot>'


def add(plant):
    arm, = Parser(plant).AddModelsFromString(URDF, "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.Finalize()
    return arm


builder = DiagramBuilder()
plant, scene_graph = AddMultibodyPlantSceneGraph(builder, time_step=0.001)
if hasattr(plant, "set_step_scheme"):
    plant.set_step_scheme("drake")
arm = add(plant)
model = MultibodyPlant(0.001)
add(model)
controller = builder.AddNamedSystem(
    "controller", InverseDynamicsController(model, [100.0] * 3, [1.0] * 3, [20.0] * 3, False)
)
times = [0.0, 0.5, 1.0]
knots = np.array([[0.1, 0.6, 0.3], [0.2, -0.4, 0.5], [0.0, 0.8, -0.3]])
trajectory = PiecewisePolynomial.CubicWithContinuousSecondDerivatives(times, knots, np.zeros(3), np.zeros(3))
source = builder.AddSystem(TrajectorySource(trajectory, 1))
builder.Connect(source.get_output_port(), controller.get_input_port_desired_state())
builder.Connect(plant.get_state_output_port(arm), controller.get_input_port_estimated_state())
builder.Connect(controller.get_output_port_control(), plant.get_actuation_input_port(arm))
log = LogVectorOutput(plant.get_state_output_port(), builder, 0.125)
efforts = LogVectorOutput(controller.get_output_port_control(), builder, 0.125)
diagram = builder.Build()
simulator = Simulator(diagram)
context = simulator.get_mutable_context()
plant.SetPositions(plant.GetMyContextFromRoot(context), [0.0, 0.3, 0.1])
integrator = simulator.get_mutable_integrator()
integrator.set_maximum_step_size(0.001)
integrator.set_fixed_step_mode(True)
simulator.Initialize()
simulator.AdvanceTo(1.0)
print("t", log.FindLog(context).sample_times())
print("x", log.FindLog(context).data())
print("u", efforts.FindLog(context).data())
print("reference", trajectory.value(0.3).T, trajectory.MakeDerivative().value(0.7).T)
''',
    "nested_diagrams": """
import numpy as np
from pydrake.all import *


def filter_of(k, name):
    builder = DiagramBuilder()
    gain = builder.AddNamedSystem("gain", Gain(k, 2))
    lag = builder.AddNamedSystem("lag", FirstOrderLowPassFilter(0.2, 2))
    builder.Connect(gain.get_output_port(), lag.get_input_port())
    builder.ExportInput(gain.get_input_port(), "u")
    builder.ExportOutput(lag.get_output_port(), "y")
    diagram = builder.Build()
    diagram.set_name(name)
    return diagram


builder = DiagramBuilder()
first, second = (builder.AddSystem(filter_of(k, f"filter{k:g}")) for k in (2.0, 3.0))
adder = builder.AddNamedSystem("adder", Adder(2, 2))
source = builder.AddNamedSystem("source", ConstantVectorSource([1.0, -2.0]))
builder.Connect(source.get_output_port(), first.get_input_port())
builder.Connect(first.get_output_port(), second.GetInputPort("u"))
builder.Connect(second.get_output_port(), adder.get_input_port(0))
builder.Connect(first.get_output_port(), adder.get_input_port(1))
builder.ExportOutput(adder.get_output_port(), "sum")
log = LogVectorOutput(adder.get_output_port(), builder, 0.1)
diagram = builder.Build()
diagram.set_name("whole")
context = diagram.CreateDefaultContext()
lag = first.GetSubsystemByName("lag")
lag.GetMyMutableContextFromRoot(context).SetContinuousState([0.3, 0.4])
print("names", [s.get_name() for s in diagram.GetSystems()][:4], diagram.HasSubsystemNamed("gain"))
print("states", context.num_continuous_states(), context.get_continuous_state_vector().CopyToVector())
print("xdot", diagram.EvalTimeDerivatives(context).CopyToVector())
print("y", diagram.GetOutputPort("sum").Eval(context))
simulator = Simulator(diagram, context)
simulator.get_mutable_integrator().set_fixed_step_mode(True)
simulator.get_mutable_integrator().set_maximum_step_size(0.05)
simulator.AdvanceTo(1.0)
print("log", log.FindLog(context).data())
print("x", context.get_continuous_state_vector().CopyToVector())
copy = context.Clone()
source.get_mutable_source_value(source.GetMyMutableContextFromRoot(copy)).SetFromVector([0.0, 0.0])
print("copy", diagram.EvalTimeDerivatives(copy).CopyToVector(), diagram.EvalTimeDerivatives(context).CopyToVector())
print("period", diagram.get_output_port().size(), diagram.num_input_ports())
""",
    "discrete_controller": PENDULUM
    + """
class Swing(LeafSystem):
    def __init__(self):
        super().__init__()
        self.DeclareVectorInputPort("state", 2)
        self.last = self.DeclareDiscreteState(2)
        self.count = self.DeclareAbstractState(AbstractValue.Make(0))
        self.gain = self.DeclareNumericParameter(BasicVector([3.0]))
        self.DeclareVectorOutputPort("torque", 1, self.CalcTorque, {self.xd_ticket()})
        self.DeclareAbstractOutputPort("count", lambda: AbstractValue.Make(0), self.CalcCount)
        self.DeclarePeriodicDiscreteUpdateEvent(0.02, 0.01, self.Update)
        self.DeclarePeriodicUnrestrictedUpdateEvent(0.1, 0.0, self.Count)
        self.DeclareInitializationDiscreteUpdateEvent(self.Begin)
        self.DeclarePerStepPublishEvent(self.Publish)
        self.published = []

    def Begin(self, context, values):
        values.set_value(self.last, [0.5, 0.0])

    def Update(self, context, values):
        x = self.get_input_port(0).Eval(context)
        values.get_mutable_vector(self.last).SetFromVector(x)

    def Count(self, context, state):
        value = state.get_mutable_abstract_state(int(self.count))
        value.set_value(value.get_value() + 1)
        state.get_mutable_discrete_state().get_mutable_vector(0)[0] += 0.01

    def Publish(self, context):
        self.published.append(context.get_time())

    def CalcTorque(self, context, output):
        x = context.get_discrete_state(self.last).CopyToVector()
        output[0] = context.get_numeric_parameter(self.gain)[0] * np.sign(x[1]) - 0.1 * x[0]

    def CalcCount(self, context, output):
        output.set_value(context.get_abstract_state(int(self.count)).get_value())


builder = DiagramBuilder()
plant = pendulum(builder, 0.005)
swing = builder.AddSystem(Swing())
builder.Connect(plant.get_state_output_port(), swing.get_input_port())
builder.Connect(swing.GetOutputPort("torque"), plant.get_actuation_input_port())
log = LogVectorOutput(swing.GetOutputPort("torque"), builder, 0.05)
diagram = builder.Build()
simulator = Simulator(diagram)
root = simulator.get_mutable_context()
own = swing.GetMyContextFromRoot(root)
plant.SetPositions(plant.GetMyContextFromRoot(root), [0.3])
monitored = []
simulator.set_monitor(lambda c: monitored.append(c.get_time()))
simulator.Initialize()
print("start", own.get_discrete_state_vector().CopyToVector(), monitored)
for t in (0.0, 0.02, 0.3, 0.31, 1.0):
    simulator.AdvanceTo(t)
    print("t", root.get_time(), own.get_discrete_state_vector().CopyToVector(), swing.GetOutputPort("count").Eval(own))
    print("x", plant.GetPositionsAndVelocities(plant.GetMyContextFromRoot(root)))
print("u", log.FindLog(root).data())
print("published", len(swing.published), swing.published[:5], len(monitored), monitored[:5])
print("steps", simulator.get_num_steps_taken(), simulator.get_num_discrete_updates() > 50)
""",
    "bouncing_ball": """
import numpy as np
from pydrake.all import *


class Ball(LeafSystem):
    def __init__(self):
        LeafSystem.__init__(self)
        self.DeclareContinuousState(1, 1, 0)
        self.DeclareVectorOutputPort("height", 1, self.CalcHeight)
        self.hit = self.MakeWitnessFunction(
            "hit", WitnessFunctionDirection.kPositiveThenNonPositive, self.Height, UnrestrictedUpdateEvent(self.Bounce)
        )
        self.bounces = 0

    def DoGetWitnessFunctions(self, context):
        return [self.hit]

    def Height(self, context):
        return context.get_continuous_state_vector()[0]

    def DoCalcTimeDerivatives(self, context, derivatives):
        derivatives.get_mutable_vector().SetFromVector([context.get_continuous_state_vector()[1], -10.0])

    def Bounce(self, context, event, state):
        self.bounces += 1
        x = state.get_mutable_continuous_state().get_mutable_vector()
        x.SetAtIndex(0, 0.0)
        x.SetAtIndex(1, -0.8 * x.GetAtIndex(1))

    def CalcHeight(self, context, output):
        output.SetAtIndex(0, self.Height(context))


ball = Ball()
simulator = Simulator(ball)
context = simulator.get_mutable_context()
context.SetContinuousState([1.0, 0.0])
context.SetAccuracy(1e-6)
simulator.get_mutable_integrator().set_maximum_step_size(0.01)
simulator.get_mutable_integrator().set_target_accuracy(1e-8)
simulator.Initialize()
for t in (0.4, 0.6, 1.0, 1.7):
    simulator.AdvanceTo(t)
    print("x", t, np.round(context.get_continuous_state_vector().CopyToVector(), 4), ball.bounces)
""",
    "signals": """
import numpy as np
from pydrake.all import *

builder = DiagramBuilder()
sine = builder.AddSystem(Sine(1.0, 2.0, 0.3, 2))
mux = builder.AddSystem(Multiplexer([2, 1]))
constant = builder.AddSystem(ConstantVectorSource([0.7]))
demux = builder.AddSystem(Demultiplexer(3))
clip = builder.AddSystem(Saturation([-0.5, -0.5, 0.0], [0.5, 0.6, 0.4]))
wrap = builder.AddSystem(WrapToSystem(3))
wrap.set_interval(0, -0.3, 0.3)
hold = builder.AddSystem(ZeroOrderHold(0.1, 3))
rate = builder.AddSystem(DiscreteDerivative(3, 0.05))
state = builder.AddSystem(StateInterpolatorWithDiscreteDerivative(3, 0.1))
integrator = builder.AddSystem(Integrator([1.0, 2.0, 3.0]))
matrix = builder.AddSystem(MatrixGain(np.array([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]])))
through = builder.AddSystem(PassThrough(2))
delay = builder.AddSystem(DiscreteTimeDelay(0.1, 2, 3))
sums = builder.AddSystem(DiscreteTimeIntegrator(3, 0.1))
builder.Connect(sine.get_output_port(0), mux.get_input_port(0))
builder.Connect(constant.get_output_port(), mux.get_input_port(1))
for system in (clip, demux, hold, rate, state, integrator, matrix, delay, sums):
    builder.Connect(mux.get_output_port(), system.get_input_port())
builder.Connect(clip.get_output_port(), wrap.get_input_port())
builder.Connect(matrix.get_output_port(), through.get_input_port())
outputs = [wrap, hold, rate, state, integrator, through, delay, sums]
logs = [LogVectorOutput(s.get_output_port(), builder, 0.07) for s in outputs]
logs.append(LogVectorOutput(demux.get_output_port(1), builder, 0.07))
diagram = builder.Build()
simulator = Simulator(diagram)
simulator.get_mutable_integrator().set_target_accuracy(1e-10)
simulator.AdvanceTo(0.7)
context = simulator.get_context()
for log in logs:
    print(log.FindLog(context).data())
print(hold.period(), demux.get_output_ports_sizes(), [sine.get_output_port(k).Eval(
    sine.GetMyContextFromRoot(context)) for k in range(3)])
""",
    "linear_systems": """
import numpy as np
from pydrake.all import *

A, B, C, D = np.array([[0.9, 0.1], [-0.2, 0.8]]), np.array([[0.0], [1.0]]), np.eye(2), np.zeros((2, 1))
system = LinearSystem(A, B, C, D, 0.1)
K, S = DiscreteTimeLinearQuadraticRegulator(A, B, np.eye(2), np.eye(1))
print("dlqr", K, S)
builder = DiagramBuilder()
plant = builder.AddSystem(system)
controller = builder.AddSystem(MatrixGain(-K))
builder.Connect(plant.get_output_port(), controller.get_input_port())
builder.Connect(controller.get_output_port(), plant.get_input_port())
log = LogVectorOutput(plant.get_output_port(), builder)
diagram = builder.Build()
simulator = Simulator(diagram)
context = simulator.get_mutable_context()
context.SetDiscreteState([1.0, -1.0])
simulator.Initialize()
simulator.AdvanceTo(1.0)
print("x", log.FindLog(context).data(), log.FindLog(context).sample_times())
affine = AffineSystem(A, B, [0.1, 0.2], C, D, [1.0, 2.0], 0.0)
own = affine.CreateDefaultContext()
affine.get_input_port().FixValue(own, [2.0])
own.SetContinuousState([0.5, 0.6])
print("affine", affine.EvalTimeDerivatives(own).CopyToVector(), affine.get_output_port().Eval(own))
linear = LinearSystem(A, B, C, D)
print("tests", IsControllable(linear), IsObservable(linear), ObservabilityMatrix(linear))
again = system.CreateDefaultContext()
system.get_input_port().FixValue(again, [1.0])
again.SetDiscreteState([1.0, 2.0])
print("next", system.EvalUniquePeriodicDiscreteUpdate(again).get_vector().CopyToVector())
print("kind", system.IsDifferenceEquationSystem(), system.time_period(), linear.IsDifferentialEquationSystem())
lqr = LinearQuadraticRegulator(linear, np.eye(2), np.eye(1))
print("lqr", lqr.D())
""",
    "events_and_statuses": """
import numpy as np
from pydrake.all import *


class Clock(LeafSystem):
    def __init__(self):
        LeafSystem.__init__(self)
        self.calls = []
        self.DeclareInitializationPublishEvent(lambda c: self.calls.append(("init", c.get_time())))
        self.DeclarePeriodicPublishEvent(0.25, 0.1, lambda c: self.calls.append(("periodic", round(c.get_time(), 12))))
        self.DeclareForcedPublishEvent(self.Forced)
        self.DeclareAbstractInputPort("object", AbstractValue.Make({}))
        self.DeclareVectorInputPort("u", BasicVector(2))
        self.DeclarePeriodicEvent(0.5, 0.0, PublishEvent(TriggerType.kPeriodic, self.Event))

    def Event(self, context, event):
        self.calls.append(("event", context.get_time()))

    def Forced(self, context):
        self.calls.append(("forced", context.get_time()))
        return EventStatus.Succeeded()


clock = Clock()
simulator = Simulator(clock)
context = simulator.get_mutable_context()
clock.GetInputPort("object").FixValue(context, AbstractValue.Make({"a": 1}))
clock.get_input_port(1).FixValue(context, [1.0, 2.0])
print(clock.get_input_port(0).Eval(context), clock.EvalVectorInput(context, 1).CopyToVector())
print(clock.EvalAbstractInput(context, 0).get_value(), clock.get_input_port(1).HasValue(context))
simulator.set_monitor(
    lambda c: EventStatus.ReachedTermination(clock, "late") if c.get_time() > 0.7 else EventStatus.DidNothing()
)
simulator.Initialize()
print(clock.calls)
status = simulator.AdvanceTo(2.0)
print(status.return_time(), status.boundary_time(), status.reason().name, status.message(), status.succeeded())
print(clock.calls)
clock.ForcedPublish(context)
print(clock.calls[-1])
for attempt in (
    lambda: clock.get_input_port(5),
    lambda: clock.GetInputPort("nothing"),
    lambda: clock.get_input_port(1).FixValue(context, [1.0]),
    lambda: DiagramBuilder().AddSystem(object()),
    lambda: DiagramBuilder().Build(),
    lambda: Integrator(1).get_input_port().Eval(Integrator(1).CreateDefaultContext()),
    lambda: BasicVector([1.0, 2.0]).SetFromVector([1.0]),
    lambda: context.SetContinuousState([1.0]),
    lambda: clock.DeclareVectorInputPort("u", 1),
):
    try:
        attempt()
        print("no error")
    except Exception as error:
        print([kind.__name__ for kind in (IndexError, TypeError, RuntimeError) if isinstance(error, kind)][0])
""",
    "autodiff_through_dynamics": """
import numpy as np
from pydrake.autodiffutils import AutoDiffXd, ExtractGradient, ExtractValue, InitializeAutoDiff
from pydrake.forwarddiff import jacobian
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces_, RevoluteJoint, SpatialInertia, UnitInertia

plant = MultibodyPlant(0.0)
parent = plant.world_frame()
for k, (mass, length) in enumerate([(1.0, 0.5), (0.7, 0.4), (0.3, 0.3)]):
    M = SpatialInertia(mass, [0, 0.02, -length], UnitInertia(0.1 + length**2, 0.1 + length**2, 0.05))
    body = plant.AddRigidBody(f"link{k}", M)
    plant.AddJoint(RevoluteJoint(f"joint{k}", parent, body.body_frame(), [0, 1, 0.1 * k], damping=0.05))
    parent = body.body_frame()
plant.Finalize()
dual = plant.ToAutoDiffXd()


def torques(x):
    context = dual.CreateDefaultContext()
    dual.SetPositionsAndVelocities(context, x[:6])
    forces = MultibodyForces_[AutoDiffXd](dual)
    dual.CalcForceElementsContribution(context, forces)
    return dual.CalcInverseDynamics(context, x[6:], forces)


x = np.array([0.3, -0.4, 0.5, 1.0, -0.7, 0.2, 0.1, 0.4, -0.6])
print(jacobian(torques, x))
context = dual.CreateDefaultContext()
dual.SetPositionsAndVelocities(context, InitializeAutoDiff(x[:6]).ravel())
tip = dual.GetFrameByName("link2")
points = dual.CalcPointsPositions(context, tip, np.array([[0.0], [0.0], [-0.3]]), dual.world_frame())
print(ExtractValue(points), ExtractGradient(points))
energy = dual.CalcPotentialEnergy(context)
print(energy.value(), energy.derivatives())
M = dual.CalcMassMatrix(context)
print(ExtractValue(M), ExtractGradient(M).sum(axis=0))
""",
    "directives_and_frames": '''
import os

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant

BOX = """<robot name='box'>
<link name='body'><inertial><mass value='2'/><inertia ixx='0.1' iyy='0.2' izz='0.25' ixy='0.01'
ixz='0' iyz='0'/></inertial></link><link name='lid'><inertial><origin xyz='0.1 0 0.05'/><mass value='0.5'/>
<inertia ixx='0.01' iyy='0.01' izz='0.02' ixy='0' ixz='0' iyz='0'/></inertial></link>
<joint name='hinge' type='revolute'>
<origin xyz='-0.1 0 0.1' rpy='0 0 0.2'/><parent link='body'/><child link='lid'/><axis xyz='0 1 0'/>
<limit lower='-1' upper='2' effort='5' velocity='3'/></joint></robot>"""
os.makedirs("boxes", exist_ok=True)
with open("boxes/package.xml", "w") as file:
    file.write("<package><name>boxes</name></package>")
with open("boxes/box.urdf", "w") as file:
    file.write(BOX)
DIRECTIVES = """
directives:
- add_model: {name: left, file: package://boxes/box.urdf, default_joint_positions: {hinge: [0.3]}}
- add_frame: {name: shelf, X_PF: {base_frame: world, translation: [0.5, 0.2, 1.0], rotation: !Rpy {deg: [10, 20, 30]}}}
- add_weld: {parent: shelf, child: left::body}
- add_model: {name: right, file: package://boxes/box.urdf}
- add_weld: {parent: left::lid, child: right::body, X_PC: {translation: [0.1, 0, 0.2]}}
"""
plant = MultibodyPlant(0.0)
parser = Parser(plant)
parser.package_map().PopulateFromFolder(os.getcwd())
for instance in parser.AddModelsFromString(DIRECTIVES, ".dmd.yaml"):
    print(plant.GetModelInstanceName(instance))
plant.Finalize()
context = plant.CreateDefaultContext()
print(plant.GetPositions(context), plant.GetPositionNames())
plant.SetPositions(context, [0.4, -0.6])
for name in ("left", "right"):
    lid = plant.GetBodyByName("lid", plant.GetModelInstanceByName(name))
    print(plant.EvalBodyPoseInWorld(context, lid).GetAsMatrix34())
print(plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits(), plant.GetVelocityUpperLimits())
print(plant.CalcMassMatrix(context), plant.CalcGravityGeneralizedForces(context))
''',
    "distances": """
import numpy as np
from pydrake.geometry import Box, Capsule, Sphere
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from pydrake.multibody.tree import SpatialInertia
from pydrake.systems.framework import DiagramBuilder

builder = DiagramBuilder()
plant, scene_graph = AddMultibodyPlantSceneGraph(builder, 0.0)
friction = CoulombFriction(0.5, 0.5)
shapes = {"ball": (Sphere(0.2), [0, 0, 0]), "rod": (Capsule(0.1, 0.6), [1, 0, 0])}
shapes["brick"] = Box(0.4, 0.3, 0.2), [0, 1, 0]
for name, (shape, p) in shapes.items():
    body = plant.AddRigidBody(name, SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    plant.RegisterCollisionGeometry(body, RigidTransform(), shape, name, friction)
    plant.SetDefaultFreeBodyPose(body, RigidTransform(RollPitchYaw(0.1 * p[0], 0.2, 0.3 * p[1]), p))
plant.Finalize()
diagram = builder.Build()
context = diagram.CreateDefaultContext()
query = scene_graph.get_query_output_port().Eval(scene_graph.GetMyContextFromRoot(context))
inspector = query.inspector()
pairs = query.ComputeSignedDistancePairwiseClosestPoints(5.0)
for pair in sorted(pairs, key=lambda pair: pair.distance):
    print(sorted([inspector.GetName(pair.id_A), inspector.GetName(pair.id_B)]), round(pair.distance, 4))
for p_WQ in ([0.3, 0.4, 0.5], [1.0, 0.05, 0.2], [0.05, 1.0, 0.02]):
    found = query.ComputeSignedDistanceToPoint(p_WQ)
    for each in sorted(found, key=lambda each: each.distance):
        print(inspector.GetName(each.id_G), each.distance, each.grad_W, each.p_GN)
print(query.HasCollisions(), inspector.num_geometries())
""",
    "symbols_and_functions": """
import numpy as np
from pydrake.math import BarycentricMesh, RigidTransform, RollPitchYaw, SoftOverMax, wrap_to
from pydrake.polynomial import Polynomial as Univariate
from pydrake.symbolic import Evaluate, Jacobian, MakeVectorVariable, Polynomial, Variable, cos, sin

q = MakeVectorVariable(2, "q")
l1, l2 = 0.7, 0.4
tip = np.array([l1 * sin(q[0]) + l2 * sin(q[0] + q[1]), -l1 * cos(q[0]) - l2 * cos(q[0] + q[1])])
J = Jacobian(tip, q)
for values in ([0.1, 0.2], [1.0, -0.5], [2.0, 0.3]):
    env = dict(zip(q, values))
    print(Evaluate(tip, env).ravel(), Evaluate(J, env))
x = Variable("x")
p = Polynomial(x**3 - 2 * x + 1)
print([p.Evaluate({x: v}) for v in (0.0, 1.0, 2.5)], p.TotalDegree(), p.Differentiate(x).Evaluate({x: 2.0}))
u = Univariate([1.0, -2.0, 0.5])
print(u.EvaluateUnivariate(1.5), u.Derivative().GetCoefficients(), u.Integral(2.0).GetCoefficients())
print((u * u).GetCoefficients())
mesh = BarycentricMesh([{0.0, 1.0, 2.0}, {0.0, 2.0}])
values = mesh.MeshValuesFrom(lambda point: [point[0] ** 2 + point[1]])
print(values, [mesh.Eval(values, point) for point in ([0.3, 1.1], [1.7, 0.2], [2.0, 2.0])])
print(wrap_to(7.0, -np.pi, np.pi), SoftOverMax([1.0, 2.0, 3.0], 4.0))
print(RigidTransform(RollPitchYaw(0.1, 0.2, 0.3), [1, 2, 3]).GetAsMatrix4())
""",
    "reaction_forces": PENDULUM
    + """
builder = DiagramBuilder()
plant = pendulum(builder, 0.0)
diagram = builder.Build()
root = diagram.CreateDefaultContext()
context = plant.GetMyContextFromRoot(root)
plant.get_actuation_input_port().FixValue(context, [0.3])
for q, v in ((0.0, 0.0), (0.4, 1.0), (-1.2, 2.0)):
    plant.SetPositions(context, [q])
    plant.SetVelocities(context, [v])
    forces = plant.get_reaction_forces_output_port().Eval(context)
    joint = plant.GetJointByName("pin")
    F = forces[int(joint.index())]
    print(F.rotational(), F.translational())
    print(plant.get_generalized_acceleration_output_port().Eval(context))
    bob = int(plant.GetBodyByName("bob").index())
    A = plant.get_body_spatial_accelerations_output_port().Eval(context)[bob]
    print(A.rotational(), A.translational())
""",
    "masses_from_torques": """
import numpy as np
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces, RevoluteJoint, SpatialInertia, UnitInertia

plant = MultibodyPlant(0.0)
parent = plant.world_frame()
for k in range(2):
    body = plant.AddRigidBody(f"link{k}", SpatialInertia(1.0, [0, 0, -0.4], UnitInertia(0.3, 0.3, 0.05)))
    plant.AddJoint(RevoluteJoint(f"joint{k}", parent, body.body_frame(), [0, 1, 0] if k else [0, 0, 1]))
    parent = body.body_frame()
plant.Finalize()
context = plant.CreateDefaultContext()
links = [plant.GetBodyByName(f"link{k}") for k in range(2)]
rng = np.random.default_rng(4)


def torques(masses, states):
    for link, mass in zip(links, masses):
        M = link.default_spatial_inertia()
        link.SetSpatialInertiaInBodyFrame(context, SpatialInertia(mass, M.get_com(), M.get_unit_inertia()))
    rows = []
    for q, v, vdot in states:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        rows.append(plant.CalcInverseDynamics(context, vdot, forces))
    return np.concatenate(rows)


states = rng.normal(size=(20, 3, 2))
measured = torques([1.7, 0.6], states)
both, one = torques([1.0, 1.0], states), torques([1.0, 0.5], states)
columns = np.column_stack([2 * one - both, 2 * (both - one)])
found, *_ = np.linalg.lstsq(columns, measured, rcond=None)
print(found, np.abs(columns @ found - measured).max() < 1e-10)
torques([1.7, 0.6], states)
print([link.get_mass(context) for link in links], plant.CalcTotalMass(context))
print(measured[:8])
""",
}
