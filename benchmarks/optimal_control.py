"""Plans beside crocoddyl: the same costs, limits, guess and integrator; time of an iteration, costs of what is found.

python -m benchmarks.optimal_control [cart_pole] [arm] [quadruped] [feedback] [--rounds N] [--crocoddyl PYTHON]

Joints have no damping and no stops, which crocoddyl has not; steps are explicit in forces and take positions by the new
velocities (`step_scheme: drake`). crocoddyl's SolverBoxDDP with the derivatives of Pinocchio, a thread each; processor
time, one after the other. The efforts that both find are run in one simulator, that of mbcli, for their costs.
crocoddyl 3.2.1 runs with pin 4.0 and crashes with pin 4.1, so it has a Python of its own: `pip install crocoddyl
pin==4.0.0 libpinocchio==4.0.0`. aligator has no package for Python on PyPI. `feedback`: plans in the loop, time of a
period.
"""

import argparse
import json
import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from mbcli.models import load_model
from mbcli.optimal_control import PredictiveControl
from mbcli.optimal_control.control_file import read_control
from mbcli.simulation import simulate

ROOT = Path(__file__).resolve().parent.parent
CART_POLE = """<robot name="cart_pole"><link name="world"/>
<link name="cart"><inertial><mass value="2.4"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="0.3"/>
<inertia ixx="0.025" iyy="0.025" izz="0.00002" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slider" type="prismatic"><parent link="world"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-100" upper="100" effort="1000" velocity="1000"/></joint>
<joint name="hinge" type="continuous"><parent link="cart"/><child link="rod"/><axis xyz="0 -1 0"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type>
<joint name="slider"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
<actuator name="slider"/></transmission></robot>"""


@dataclass(frozen=True)
class Case:
    """A problem: joints by name with their targets at the end, weights, and a frame that goes to a place."""

    text: str
    period: float
    knots: int
    limit: float
    start: dict
    targets: dict  # {joint: position} at the end
    weights: dict  # efforts, velocities and positions while it runs; end, end velocities, end place
    frame: tuple = ()  # name, place
    floats: bool = False
    iterations: int = 100


def _free(path):
    """A model file without damping and limits."""
    text = re.sub(r'damping="[^"]*"', 'damping="0"', (ROOT / "sample_models" / path).read_text())
    return re.sub(r'(lower|upper|effort)="(-?)[^"]*"', r'\1="\g<2>1000"', text)


def cases():
    """{name: Case}"""
    arm = {f"joint_{k}": 0.0 for k in range(1, 8)}
    bent = arm | {"joint_2": 0.6, "joint_4": 1.2, "joint_6": 0.5}
    light = {"efforts": 1e-4, "velocities": 0.1, "positions": 3.0, "end": 0.0, "end_velocities": 10.0, "place": 1000.0}
    swing = {"efforts": 1e-3, "velocities": 0.01, "positions": 0.0, "end": 300.0, "end_velocities": 30.0, "place": 0.0}
    quadruped = load_model(ROOT / "sample_models" / "quadruped.urdf").plant
    legs = [joint.name() for joint in quadruped.moving_joints() if joint.num_velocities() == 1]
    folded = {name: 0.3 if k % 3 else -0.2 for k, name in enumerate(legs)}
    limbs = {"efforts": 1e-3, "velocities": 0.01, "positions": 0.0, "end": 100.0, "end_velocities": 1.0, "place": 0.0}
    return {
        "cart_pole": Case(CART_POLE, 0.02, 150, 20.0, {"hinge": 0.01}, {"slider": 0.0, "hinge": np.pi}, swing),
        "arm": Case(_free("arm7.urdf"), 0.01, 100, 60.0, bent, bent, light, ("flange", (0.3, 0.3, 1.0))),
        "quadruped": Case(_free("quadruped.urdf"), 0.01, 50, 40.0, {}, folded, limbs, floats=True),
    }


def task_of(case):
    """The control file of a case."""
    w, joints = case.weights, list(case.targets)
    target = list(map(float, case.targets.values()))
    speeds = [f"{name}_{'v' if name == 'slider' else 'w'}" for name in joints]
    cost = [
        {"term": "efforts", "of": "all", "target": 0, "weight": w["efforts"]},
        {"term": "velocities", "of": speeds, "target": 0, "weight": w["velocities"]},
        {"term": "positions", "of": joints, "target": target, "weight": w["positions"]},
        {"term": "positions", "of": joints, "target": target, "weight": w["end"], "at": "end"},
        {"term": "velocities", "of": speeds, "target": 0, "weight": w["end_velocities"], "at": "end"},
    ]
    if case.frame:
        name, place = case.frame
        cost.append({"term": "place", "frame": name, "target": list(place), "weight": w["place"], "at": "end"})
    cost = [term for term in cost if term["weight"]]
    task = {"period": case.period, "horizon": case.period * case.knots, "cost": cost}
    return task | {"efforts": {"all": case.limit}, "start": case.start or {joints[0]: 0.0}}


class Ours:
    """mbcli's search of a case."""

    def __init__(self, case, path):
        file = read_control(task_of(case))
        loaded = load_model(path, dt=case.period, overrides=["plant_config.step_scheme=drake"])
        self.case, self.loaded, self.problem = case, loaded, file.problem(loaded, threads=1)

    def solve(self):
        """(efforts, iterations, processor time, whether it has converged)"""
        problem = self.problem
        first = problem.search.run(problem.q, problem.v, problem.u)
        began = time.process_time()
        found = problem.search.improve(first, self.case.iterations)
        spent = time.process_time() - began
        return found.trajectory.u, len(found.iterations), spent, found.status == "converged"

    def cost(self, u):
        """Of efforts (N, nu)."""
        return self.problem.search.run(self.problem.q, self.problem.v, u).cost


def by_crocoddyl(case, path, ours, rounds, python):
    """What crocoddyl finds in a process of another Python, as Ours.solve() gives it, for each round."""
    actuators = ours.loaded.plant.elements.actuators
    question = {
        **asdict(case),
        "path": str(path),
        "rounds": rounds,
        "guess": ours.problem.u.tolist(),
        "driven": [actuator.joint().name() for actuator in actuators],
        "armature": [actuator.default_reflected_inertia() for actuator in actuators],
    }
    command = [python, str(Path(__file__).with_name("crocoddyl_plans.py"))]
    done = subprocess.run(command, input=json.dumps(question), stdout=subprocess.PIPE, text=True, check=True)
    answers = json.loads(done.stdout)
    return [(np.array(each["u"]), each["iterations"], each["seconds"], each["converged"]) for each in answers]


def report(name, case, rounds, python):
    """Prints a row for each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.urdf"
        path.write_text(case.text)
        ours = Ours(case, path)
        runs = {"mbcli": [ours.solve() for _ in range(rounds)]}
        if python is not None:
            runs["crocoddyl"] = by_crocoddyl(case, path, ours, rounds, python)
        for key, found in runs.items():
            u, iterations, _, converged = found[0]
            spent = statistics.median(each[2] / max(each[1], 1) for each in found)
            end = "converged" if converged else "not converged"
            print(f"{name:10} {key:10} {1e3 * spent:9.3g} ms an iteration, {iterations:4} iterations, {end:14} "
                  f"cost {ours.cost(u):.6g}")  # fmt: skip


def feedback():
    """Plans in the loop: an arm under a push, a cart that swings its rod up."""
    import yaml

    reach = yaml.safe_load((ROOT / "docs" / "examples" / "reach.control.yaml").read_text())
    reach |= {"model": str(ROOT / "sample_models" / "arm7.urdf"), "horizon": 0.4}
    reach["cost"] = [
        {"term": "efforts", "of": "all", "target": 0, "weight": 1e-4},
        {"term": "velocities", "of": "all", "target": 0, "weight": 0.3},
        {"term": "place", "frame": "flange", "target": [0.3, 0.3, 1.0], "weight": 100, "at": "both"},
    ]
    swing = yaml.safe_load((ROOT / "docs" / "examples" / "swing.control.yaml").read_text())
    swing |= {"model": str(ROOT / "sample_models" / "cart_pole.sdf"), "horizon": 2.0}
    for name, task, dt, push, until in (
        ("arm", reach, 0.01, "flange=60,0,0 from 0.5 to 0.7", 1.5),
        ("cart_pole", swing, 0.005, "rod=2,0,0 from 3 to 3.1", 6.0),
    ):
        control = PredictiveControl(task)
        began = time.process_time()
        log = simulate(task["model"], until, dt=dt, contact=False, start=task["start"], controller=control, pushes=push)
        spent = time.process_time() - began
        later = control.times[1:]
        end = np.round(log.field("state/q")[-1], 3).tolist()
        print(
            f"{name:10} {len(later)} periods of {1e3 * task['period']:g} ms, {middle(later):.3g} ms each by the clock, "
            f"{1e3 * max(later):.3g} at most; processor {1e3 * spent / len(later):.3g} ms; ends at {end}"
        )


def middle(times):
    """[ms]"""
    return 1e3 * statistics.median(times)


def main():
    """Prints what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--crocoddyl", metavar="PYTHON", help="A Python that has crocoddyl; without it mbcli alone.")
    given = parser.parse_args()
    known = cases()
    for part in given.parts or [*known, "feedback"]:
        if part == "feedback":
            feedback()
        else:
            report(part, known[part], given.rounds, given.crocoddyl)


if __name__ == "__main__":
    main()
