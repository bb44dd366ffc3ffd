"""What controllers cost: a tick of a run by each kind, and 256 worlds under one of arrays.

python -m benchmarks.control [tick] [sensors] [pipe] [worlds] [diagram] [inverse_dynamics] [--rounds N]

tick   a run of a pendulum at 500 Hz with a controller of Python or a compiled one, beside the same run without
sensors a controller that reads all sensors at 500 Hz, beside one that reads none: a robot with six sensors that stands
       on its feet, the same with noise on its inertial unit, and MuJoCo with the same file; processor time
pipe   the same with a program in C (cc is needed), and how long the two processes take to exchange the same lines alone
worlds 256 worlds under a controller of arrays, beside steps under the same efforts that are known before
diagram  a LeafSystem that controls a pendulum at 500 Hz in a diagram, by an output that follows from the state at once
         or by a sampled one, beside the plant alone; processor time
inverse_dynamics  an InverseDynamicsController that moves an arm of seven joints at 1 kHz in a diagram, beside Drake;
         processor time

Other times are by the clock, of the steps of runs. The contestants run one after another in each round: medians of
differences.
"""

import argparse
import importlib
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.peers import installed
from mbcli.models import load_model
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph
from mbcli.simulation.control import ControllerChoice, compiled
from mbcli.simulation.recorded_run import RecordedRun
from mbcli.simulation.worlds import Worlds
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder, LeafSystem

ROOT = Path(__file__).resolve().parent.parent
PENDULUM = str(ROOT / "sample_models" / "pendulum.urdf")
DURATION, RATE = 8.0, 500.0  # [s], [Hz]
TICKS = int(DURATION * RATE)
SENSING = 1.0  # [s] of runs with sensors
ARM_STEPS = 500  # of an arm in a diagram
COUNT, STEPS, PERIOD = 256, 500, 10  # worlds, steps, steps from one call to the next
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  static char line[65536];
  if (!fgets(line, sizeof line, stdin)) return 1;
  puts("{\"ready\": true}");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (strstr(line, "\"save\"")) {
      puts("{\"state\": null}");
    } else {
      double q = atof(strchr(strstr(line, "\"q\""), '[') + 1), v = atof(strchr(strstr(line, "\"v\""), '[') + 1);
      printf("{\"u\": [%.17g]}\n", -40.0 * q - 4.0 * v);
    }
    fflush(stdout);
  }
  return 0;
}
"""


def own(q, v):
    """The work of a controller of Python."""
    return [-40.0 * q[0] - 4.0 * v[0]]


@compiled(rate=RATE)
def by_address(time, q, v, u, desired, memory):
    """The same, compiled."""
    u[0] = -40.0 * q[0] - 4.0 * v[0]


def seconds(call):
    """By the clock."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def runs(contestants, rounds):
    """{name: seconds of each round}, after one round to warm up; contestants return seconds."""
    found = {name: [] for name in contestants}
    for k in range(rounds + 1):
        for name, call in contestants.items():
            taken = call()
            if k:
                found[name].append(taken)
    return found


def simulated(controller):
    """A function: seconds of the steps of a run of the pendulum, without what is before the first one."""
    model = load_model(PENDULUM, contact=False)
    choice = None if controller is None else ControllerChoice(controller, rate=RATE)

    def run():
        recorded = RecordedRun(model, DURATION, log_rate=1.0, fields="u", controller=choice)
        try:
            recorded.prepare()
            return recorded.run(in_memory=True).wall_time
        finally:
            recorded.release()

    return run


def by_tick(found, name, base="none"):
    """Median over rounds of what a tick takes more than without a controller [us]."""
    return 1e6 / TICKS * statistics.median(b - a for a, b in zip(found[base], found[name], strict=True))


def tick(rounds):
    """Controllers of Python and compiled ones."""
    found = runs({"none": simulated(None), "python": simulated(own), "compiled": simulated(by_address)}, rounds)
    state = np.array([0.1]), np.array([0.2])
    alone = 1e6 / TICKS * seconds(lambda: [own(*state) for _ in range(TICKS)])
    print(f"Python:   {by_tick(found, 'python') - alone:6.2f} us a tick beyond its own {alone:.2f} us (goal 20)")
    print(f"compiled: {by_tick(found, 'compiled'):6.3f} us a tick (goal 0.2)")


NOISE = """<sdf version="1.9"><world name="w"><model name="m"><link name="b"><inertial><mass>1</mass><inertia><ixx>1
</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial><sensor name="imu" type="imu"><imu>%s</imu></sensor></link>
</model></world></sdf>"""


def noisy_file(folder):
    """A body that falls, with an inertial unit of which six columns are noisy."""
    parts = []
    for name in ("angular_velocity", "linear_acceleration"):
        axes = "".join(f'<{x}><noise type="gaussian"><stddev>0.1</stddev></noise></{x}>' for x in "xyz")
        parts.append(f"<{name}>{axes}</{name}>")
    path = os.path.join(folder, "noisy.sdf")
    Path(path).write_text(NOISE % "".join(parts))
    return path


def sensing_run(path, reads, pose):
    """A function: processor seconds of the steps of a run at whose ticks all sensors are read, or none."""
    model = load_model(path, dt=1.0 / RATE, contact=pose is not None)
    count = model.plant.num_actuators()

    def deaf(q):
        return np.zeros(count)

    def sensing(sensors):
        return np.zeros(count)

    def run():
        choice = ControllerChoice(sensing if reads else deaf, rate=RATE)
        recorded = RecordedRun(model, SENSING, log_rate=1.0, fields="u", controller=choice, pose=pose)
        try:
            recorded.prepare()
            started = time.process_time()
            recorded.run(in_memory=True)
            return time.process_time() - started
        finally:
            recorded.release()

    return run


def mujoco_run(path, reads):
    """The same of MuJoCo, which computes sensors in each step or not, and whose values are copied or not."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(path)
    model.opt.timestep = 1.0 / RATE
    if not reads:
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR

    def run():
        data, started = mujoco.MjData(model), time.process_time()
        mujoco.mj_resetDataKeyframe(model, data, 0)
        for _ in range(int(SENSING * RATE)):
            if reads:
                data.sensordata.copy()
            data.ctrl[:] = 0.0
            mujoco.mj_step(model, data)
        return time.process_time() - started

    return run


def sensors(rounds):
    """What it costs a controller to have the sensors of a model."""
    walker, ticks = str(ROOT / "docs" / "examples" / "walker.xml"), SENSING * RATE
    with tempfile.TemporaryDirectory() as folder:
        noisy = noisy_file(folder)
        contestants = {
            (name, reads): sensing_run(path, reads, pose)
            for name, path, pose in (("six sensors on four feet", walker, "stand"), ("a noisy unit", noisy, None))
            for reads in (False, True)
        }
        if installed("MuJoCo"):
            contestants |= {("MuJoCo, six sensors", reads): mujoco_run(walker, reads) for reads in (False, True)}
        found = runs(contestants, rounds)
    for name in dict.fromkeys(name for name, _ in found):
        without, reading = found[name, False], found[name, True]
        more = statistics.median(b - a for a, b in zip(without, reading, strict=True))
        each, whole = 1e6 * more / ticks, 1e6 * statistics.median(reading) / ticks
        print(f"sensors:  {name}: {each:6.1f} us a tick more than without, {whole:.1f} us in all")


def pipe(rounds):
    """A program in C."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("pipe: there is no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "own.c"), os.path.join(folder, "own")
        Path(source).write_text(PROGRAM)
        subprocess.run([compiler, "-O2", "-o", program, source], check=True)
        found = runs({"none": simulated(None), "pipe": simulated(program)}, rounds)
        alone = 1e6 / TICKS * statistics.median(seconds(lambda: exchange(program)) for _ in range(rounds))
    each = by_tick(found, "pipe")
    print(f"pipe:     {each:6.1f} us a tick (goal 100); blocking reads and writes of the same lines {alone:.1f} us")


def exchange(program):
    """As many questions and answers by blocking reads and writes, nothing else."""
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    line = b'{"time": 0.123, "q": [0.12345678901234567], "v": [-0.12345678901234567]}\n'
    for _ in range(TICKS + 1):
        os.write(process.stdin.fileno(), line)
        os.read(process.stdout.fileno(), 65536)
    process.stdin.close()
    process.wait()


def worlds(rounds):
    """256 worlds, one call for all."""
    for name, options, gains in (
        ("arm7.urdf", {"contact": False}, (20.0, 4.0)),
        ("quadruped.urdf", {"contact": True, "ground": 0.0}, (40.0, 1.0)),
    ):
        model = load_model(str(ROOT / "sample_models" / name), **options)
        many = Worlds(model, COUNT)
        start, nu = many.q.copy(), many.u.shape[1]
        rest = start[:, -nu:].copy()

        def law(q, v, rest=rest, nu=nu, gains=gains):
            return gains[0] * (rest - q[:, -nu:]) - gains[1] * v[:, -nu:]

        def under(many=many, start=start, law=law):
            many.reset(q=start)
            with many.under_controller(law, rate=1.0 / (PERIOD * many.plant.time_step())):
                many.step(STEPS)

        efforts = recorded(many, start, law)

        def replayed(many=many, start=start, efforts=efforts):
            """The efforts of the controller, known before."""
            many.reset(q=start)
            for u in efforts:
                many.u = u
                many.step(PERIOD)

        found = runs({"replayed": lambda: seconds(replayed), "under": lambda: seconds(under)}, rounds)
        ratio = statistics.median(b / a for a, b in zip(found["replayed"], found["under"], strict=True))
        rate = COUNT * STEPS / statistics.median(found["under"])
        print(f"worlds:   {name}: {100.0 * (ratio - 1.0):+.1f} % (goal 30 %), {rate:,.0f} steps a second under it")


def recorded(many, start, law):
    """u of all worlds at each call."""
    kept = []

    def keep(q, v):
        u = np.clip(law(q, v), -limits, limits)
        kept.append(u)
        return u

    limits = np.array([actuator.effort_limit() for actuator in many.plant.elements.actuators])
    many.reset(q=start)
    with many.under_controller(keep, rate=1.0 / (PERIOD * many.plant.time_step())):
        many.step(STEPS)
    return kept


def diagram(rounds):
    """Controllers that are systems of a diagram."""
    simulators = {"none": simulator(None), "direct": simulator(Direct()), "sampled": simulator(Sampled())}
    for each in simulators.values():
        each.AdvanceTo(0.1)
    found = runs({name: lambda each=each: processor_seconds(each) for name, each in simulators.items()}, rounds)
    for name in ("direct", "sampled"):
        print(f"diagram:  {name}: {by_tick(found, name):.1f} us a period with its own code (goal 20 beyond it)")


def processor_seconds(simulator):
    """Of so many periods more."""
    started = time.process_time()
    simulator.AdvanceTo(simulator.get_context().get_time() + DURATION)
    return time.process_time() - started


def simulator(controller):
    """Of the pendulum, whose controller takes its state."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 1.0 / RATE)
    Parser(plant).AddModels(PENDULUM)
    plant.Finalize()
    if controller is not None:
        builder.AddSystem(controller)
        builder.Connect(plant.get_state_output_port(), controller.get_input_port())
        builder.Connect(controller.get_output_port(), plant.get_actuation_input_port())
    made = Simulator(builder.Build())
    if controller is None:
        plant.get_actuation_input_port().FixValue(plant.GetMyContextFromRoot(made.get_mutable_context()), [0.0])
    return made


class Direct(LeafSystem):
    """The output follows from the state at once."""

    def __init__(self):
        super().__init__()
        self._x = self.DeclareVectorInputPort("x", 2)
        self.DeclareVectorOutputPort("u", 1, self._output)

    def _output(self, context, output):
        x = self._x.Eval(context)
        output.SetFromVector(own(x[:1], x[1:]))


class Sampled(LeafSystem):
    """The output is discrete state, which is set once a period."""

    def __init__(self):
        super().__init__()
        self._x = self.DeclareVectorInputPort("x", 2)
        self.DeclareDiscreteState(1)
        self.DeclarePeriodicDiscreteUpdateEvent(1.0 / RATE, 0.0, self._update)
        self.DeclareVectorOutputPort("u", 1, self._output, {self.xd_ticket()})

    def _update(self, context, values):
        x = self._x.Eval(context)
        values.set_value(own(x[:1], x[1:]))

    def _output(self, context, output):
        output.SetFromVector(context.get_discrete_state_vector().CopyToVector())


def inverse_dynamics(rounds):
    """A diagram with an InverseDynamicsController, the same script for both."""
    programs = {"mbcli": "mbcli"} | ({"Drake": "pydrake"} if installed("Drake") else {})
    simulators = {name: controlled_arm(package) for name, package in programs.items()}
    found = runs({name: lambda each=each: seconds_of_steps(each) for name, each in simulators.items()}, rounds)
    for name, taken in found.items():
        print(f"inverse_dynamics:  {name}: {1e6 * statistics.median(taken) / ARM_STEPS:.1f} us a step")


def controlled_arm(package):
    """A Simulator of one of the packages."""
    names = importlib.import_module(f"{package}.all")
    builder = names.DiagramBuilder()
    plant, _ = names.AddMultibodyPlantSceneGraph(builder, 0.001)
    names.Parser(plant).AddModels(str(ROOT / "sample_models" / "arm7.urdf"))
    plant.Finalize()
    gains = [100.0] * 7, [1.0] * 7, [20.0] * 7
    controller = builder.AddSystem(names.InverseDynamicsController(plant, *gains, False))
    aim = builder.AddSystem(names.ConstantVectorSource(np.zeros(14)))
    builder.Connect(aim.get_output_port(), controller.get_input_port_desired_state())
    builder.Connect(plant.get_state_output_port(), controller.get_input_port_estimated_state())
    builder.Connect(controller.get_output_port_control(), plant.get_actuation_input_port())
    made = names.Simulator(builder.Build())
    plant.SetPositions(plant.GetMyContextFromRoot(made.get_mutable_context()), 0.1 * np.ones(7))
    made.Initialize()
    return made


def seconds_of_steps(simulator):
    """Of ARM_STEPS more."""
    started = time.process_time()
    simulator.AdvanceTo(simulator.get_context().get_time() + 0.001 * ARM_STEPS)
    return time.process_time() - started


PARTS = {
    "inverse_dynamics": inverse_dynamics,
    "diagram": diagram,
    "tick": tick,
    "sensors": sensors,
    "pipe": pipe,
    "worlds": worlds,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    for name in options.parts:
        if name not in PARTS:
            parser.error(f"there is no part {name!r}; there are {', '.join(PARTS)}")
        PARTS[name](options.rounds)


if __name__ == "__main__":
    main()
