"""What `mbcli identify` says of 60 simulated recordings, of which the truth is known: a table and its counts.

    python -m benchmarks.identification_sets [--only WORD] [--keep FOLDER]
    python -m benchmarks.identification_sets --errors 200

Arms of 2 to 7 joints: two of `sample_models`, four drawn. The file has other masses, centres and inertias than the
robot, and no friction. Each recording (20 s, 100 to 200 rows a second, positions and efforts) goes through the command,
as a user would run it, and the printed parameters predict the efforts of a motion that was not recorded, by the truth:

    recovered       exit code 0, and that prediction is within 10 %
    named           an error finding, or an error, with the cause, and the joint where there is one
    unknown         a warning says what these data cannot show, or of what faster motion they tell nothing
    other cause     exit code 1, but the cause is another
    false alarm     exit code 1 for good data
    WRONG           exit code 0, no warning, and a wrong prediction

--errors: of so many good recordings of each of DRAWN, how many of the true numbers of friction are within two standard
errors.

Everything is drawn from fixed seeds. Exit code 1 if anything is wrong in silence, or a false alarm.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import time
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.cli import run
from mbcli.identification.subject import Subject
from mbcli.models.loading import load_model
from mbcli.multibody.plant.batch_functions import BatchFunctions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SAMPLES = os.path.join(os.path.dirname(__file__), "..", "sample_models")
RIGHT = 0.10  # error of the prediction, up to which the truth is recovered
SECONDS, RATE = 20.0, 125.0
TRAVEL, BASE = 1.2, 0.1  # [rad] of a joint, at most; [Hz] of the slowest part of a motion
BUG = 70  # exit code
UNSURE = ("DATA_UNCHECKED", "RESULT_UNKNOWN")  # warnings that say what cannot be known
ENCODER = np.radians(0.09)


# ------------------------------------------------------------------------------------------- arms


def arm_text(joints: int) -> str:
    """A URDF of an arm on a column, axes in turn."""
    rng = np.random.default_rng(joints)
    parts = ['<robot name="arm"><link name="base"/>']
    for k in range(joints):
        size = 4.0 * 0.75**k
        draw = rng.uniform(0.6, 1.4, 3)
        mass, length = size * draw[0], 0.3 * draw[1]
        x, y, z, inertia = 0.04 * (draw[2] - 1.0), 0.02, 0.45 * length, mass * length**2 / 10.0
        axis = "0 0 1" if k % 3 == 0 else "0 1 0"
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="{x:.6g} {y:.6g} {z:.6g}"/><mass value="{mass:.6g}"/><inertia '
            f'ixx="{inertia:.6g}" ixy="0" ixz="0" iyy="{1.1 * inertia:.6g}" iyz="0" izz="{0.3 * inertia:.6g}"/>'
            f'</inertial></link><joint name="j{k}" type="revolute"><parent link="{"base" if k == 0 else f"l{k - 1}"}"/>'
            f'<child link="l{k}"/><origin xyz="0 0 {0.1 if k == 0 else 0.3}"/><axis xyz="{axis}"/>'
            '<limit lower="-3" upper="3" effort="300" velocity="10"/></joint>'
        )
    return "".join([*parts, "</robot>"])


class Arm:
    """A robot and the file that someone has of it.

    Args:
        joints: how many; 2 and 7 are files of sample_models. folder: for the file.

    Attributes:
        path: of the file. names: of its joints. viscous, coulomb: (joints,) friction of the robot, of which the file
        says nothing.
    """

    def __init__(self, joints: int, folder: str) -> None:
        rng = np.random.default_rng(100 + joints)
        self.joints, self.path = joints, os.path.join(folder, f"arm{joints}.urdf")
        name = {2: "double_pendulum.urdf", 7: "arm7.urdf"}.get(joints)
        text = arm_text(joints)
        if name is not None:
            with open(os.path.join(SAMPLES, name), encoding="utf-8") as file:
                text = file.read()
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"<dynamics[^>]*/>", "", text))
        self.plant = load_model([self.path], weld_base=True).plant
        links = [self.plant.elements.bodies[n] for n in Subject(self.plant, frictions=(), armature=False).links]
        self._other: dict[str, Any] = {}
        for link in links:
            inertia, factors = link.default_spatial_inertia(), rng.uniform(0.7, 1.4, 2)
            self._other[f"body.{link.name()}.mass"] = float(inertia.get_mass() * factors[0])
            self._other[f"body.{link.name()}.com"] = [float(factors[1]) * x for x in inertia.get_com()]
        self._masses = {name: value for name, value in self._other.items() if name.endswith("mass")}
        self.names = [joint.name() for joint in self.plant.moving_joints() if joint.num_velocities() == 1]
        self._robot = self._with()
        sizes = np.sqrt((self._robot(*harmonics(self, 1, SECONDS, BASE, 500)[1:]) ** 2).mean(axis=0))
        self.viscous, self.coulomb = 0.1 * sizes * rng.uniform(0.5, 1.5, (2, joints)) + 1e-3

    def _with(self, load: float = 0.0, gravity: Any = None) -> Any:
        """(q, v, vdot) -> tau of the robot with a part of its mass more at its last link."""
        last = list(self._masses)[-1]
        other = {**self._other, last: self._masses[last] + load * sum(self._masses.values())}
        plant = load_model([self.path], weld_base=True, overrides=other, gravity=gravity).plant
        return BatchFunctions(plant).inverse_dynamics

    def efforts(
        self, q: Any, v: Any, vdot: Any, *, stribeck: bool = False, load: float = 0.0, gravity: Any = None
    ) -> Any:
        robot = self._robot if gravity is None and not load else self._with(load, gravity)
        dry = self.coulomb * (1.0 + np.exp(-((v / 0.15) ** 2)) if stribeck else 1.0)
        return robot(q, v, vdot) + self.viscous * v + dry * np.sign(v)


def harmonics(arm: Arm, seed: int, seconds: float, base: float, rows: int) -> tuple[Any, ...]:
    """time, q, v, vdot of sums of five sines, of at most TRAVEL."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, seconds, rows, endpoint=False)
    q, v, vdot = np.zeros((3, rows, arm.joints))
    for k in range(arm.joints):
        for n in range(1, 6):
            w, phase, a = 2.0 * np.pi * base * n, rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.5, 1.0) / n
            q[:, k] += a * np.sin(w * t + phase)
            v[:, k] += a * w * np.cos(w * t + phase)
            vdot[:, k] -= a * w * w * np.sin(w * t + phase)
        size = TRAVEL / np.abs(q[:, k]).max()
        q[:, k], v[:, k], vdot[:, k] = size * q[:, k], size * v[:, k], size * vdot[:, k]
    lower, upper = arm.plant.GetPositionLowerLimits(), arm.plant.GetPositionUpperLimits()
    lower, upper = np.clip(lower, -3.0, None), np.clip(upper, None, 3.0)
    middle, reach = 0.5 * (lower + upper), 0.45 * (upper - lower)
    shrink = np.minimum(1.0, reach / TRAVEL)
    return t, middle + shrink * q, shrink * v, shrink * vdot


# ------------------------------------------------------------------------------------------- recordings


@dataclass(frozen=True)
class Recording:
    """Columns of a recording: time (n,), q, v, vdot, tau (n, joints), as they were; and words of the command."""

    arm: Arm
    time: Any
    q: Any
    v: Any
    vdot: Any
    tau: Any
    rng: Any
    words: tuple[str, ...] = ()
    with_velocities: bool = False
    exact: Any = None  # (q, tau) without noise

    def noise(self, size: float) -> Any:
        """(n, joints) of white noise, as large as a part of the efforts."""
        return size * np.sqrt((self.tau**2).mean(axis=0)) * self.rng.normal(size=self.tau.shape)

    def write(self, path: str) -> None:
        columns = {"time": self.time}
        for field, values in (("q", self.q), *((("v", self.v),) if self.with_velocities else ()), ("tau", self.tau)):
            columns |= {f"{field}:{name}": values[:, k] for k, name in enumerate(self.arm.names)}
        header = ",".join(columns)
        np.savetxt(path, np.column_stack(list(columns.values())), "%.9g", ",", header=header, comments="")


def recorded(arm: Arm, name: str, seconds: float = SECONDS, base: float = BASE, stribeck: bool = False) -> Recording:
    """A good recording: encoders to 1e-5 rad, efforts to 1 %."""
    seed = zlib.crc32(name.encode())
    t, q, v, vdot = harmonics(arm, seed, seconds, base, int(seconds * RATE))
    r = Recording(arm, t, q, v, vdot, arm.efforts(q, v, vdot, stribeck=stribeck), np.random.default_rng(seed + 1))
    return replace(r, q=q + 1e-5 * r.rng.normal(size=q.shape), tau=r.tau + r.noise(0.01), exact=(q, r.tau))


def coloured(r: Recording, size: float) -> Recording:
    from scipy.signal import lfilter

    noise = lfilter([1.0], [1.0, -0.97], r.noise(size), axis=0) * np.sqrt(1.0 - 0.97**2)
    return replace(r, tau=r.tau + noise)


def in_steps(r: Recording) -> Recording:
    quantum = np.abs(r.tau).max(axis=0) / 40.0
    return replace(r, tau=quantum * np.round(r.tau / quantum))


def encoders(r: Recording) -> Recording:
    return replace(r, q=ENCODER * np.round(r.q / ENCODER))


def backlash(r: Recording) -> Recording:
    """Motors that turn by 0.3 degrees before a joint turns back: positions are those of the motors."""
    from scipy.ndimage import uniform_filter1d

    side = uniform_filter1d(np.sign(r.v), 5, axis=0)
    return replace(r, q=r.q + 0.5 * np.radians(0.3) * side)


def saturated(r: Recording) -> Recording:
    most = np.percentile(np.abs(r.tau), 92.0, axis=0)
    return replace(r, tau=np.clip(r.tau, -most, most))


def late(r: Recording, joints: Any, rows: int = 10) -> Recording:
    tau = r.tau.copy()
    tau[:, joints] = np.roll(tau[:, joints], rows, axis=0)
    return replace(r, tau=tau)


def degrees(r: Recording, joints: Any, q: bool, v: bool) -> Recording:
    factor = np.ones(r.arm.joints)
    factor[joints] = 180.0 / np.pi
    return replace(r, q=r.q * factor if q else r.q, v=r.v * factor if v else r.v, with_velocities=True)


def loaded_on_the_way(r: Recording) -> Recording:
    """A fifth of the arm's mass more on its last link, from the middle of the recording on."""
    more = r.arm.efforts(r.q, r.v, r.vdot, load=0.2) - r.arm.efforts(r.q, r.v, r.vdot)
    return replace(r, tau=r.tau + more * (np.arange(len(r.time)) >= len(r.time) // 2)[:, None])


def under_gravity(r: Recording, *direction: float) -> Recording:
    """Of a base that is mounted otherwise: gravity has another direction in its frame."""
    other = r.arm.efforts(r.q, r.v, r.vdot, gravity=9.81 * np.array(direction) / np.linalg.norm(direction))
    return replace(r, tau=r.tau + other - r.arm.efforts(r.q, r.v, r.vdot))


def swapped(r: Recording, k: int, m: int) -> Recording:
    order = np.arange(r.arm.joints)
    order[[k, m]] = m, k
    return replace(r, tau=r.tau[:, order])


def stamped_twice(r: Recording) -> Recording:
    rows = np.sort(np.concatenate((np.arange(len(r.time)), [300, 301, 900])))
    return replace(r, time=r.time[rows], q=r.q[rows], v=r.v[rows], tau=r.tau[rows])


def times(r: Recording, factor: float, joints: Any = slice(None)) -> Recording:
    tau = r.tau.copy()
    tau[:, joints] *= factor
    return replace(r, tau=tau)


class Kind(NamedTuple):
    """A way in which recordings are made.

    Attributes:
        arms: numbers of joints, a recording each. make: (good recording, number) -> recording. words: of the message
        that names what is wrong; none: nothing is. joint: number -> the joint that is named. options: of recorded().
        faster: times the speed of the recording, that the motion has whose efforts are predicted.
    """

    arms: tuple[int, ...]
    make: Callable[[Recording, int], Recording] = lambda r, k: r
    words: tuple[str, ...] = ()
    joint: Callable[[int], int | None] = lambda k: None
    options: dict[str, Any] = {}
    faster: float = 1.0


def turn(arms: tuple[int, ...]) -> Callable[[int], int]:
    """The joint that is spoiled in recording k: one after another."""
    return lambda k: (2 * k + 1) % arms[k]


ONE = (2, 3, 4, 6, 7, 3)
KINDS = {
    "clean": Kind((2, 3, 5, 7)),
    "white noise": Kind((3, 4, 6), lambda r, k: replace(r, tau=r.tau + r.noise(0.05))),
    "coloured noise": Kind((2, 4, 7), lambda r, k: coloured(r, 0.05)),
    "efforts in steps": Kind((2, 4, 6), lambda r, k: in_steps(r)),
    "encoders 0.09 deg": Kind((3, 5, 7), lambda r, k: encoders(r)),
    "stribeck": Kind((2, 4, 6), options={"stribeck": True}),
    "backlash": Kind((3, 5, 7), lambda r, k: backlash(r)),
    "saturated": Kind((2, 4, 6), lambda r, k: saturated(r)),
    "swapped efforts": Kind((2, 4, 7), lambda r, k: swapped(r, 0, 1), ("swapped",), lambda k: 0),
    "mirrored effort": Kind(
        ONE,
        lambda r, k: times(r, -1.0, (2 * k + 1) % ONE[k] if k < 5 else 0),
        ("sign", "other way"),
        lambda k: (2 * k + 1) % ONE[k] if k < 5 else 0,
    ),
    "late efforts": Kind((3, 7), lambda r, k: late(r, slice(None)), ("behind",)),
    "one late effort": Kind((4, 6), lambda r, k: late(r, 1), ("behind",), lambda k: 1),
    "degrees in q": Kind((3, 6), lambda r, k: degrees(r, 1, True, False), ("degrees",), lambda k: 1),
    "degrees in v": Kind((4,), lambda r, k: degrees(r, 1, False, True), ("degrees",), lambda k: 1),
    "degrees in both": Kind((2, 4, 7), lambda r, k: degrees(r, 1, True, True), ("degrees",), lambda k: 1),
    "kgf cm": Kind((2, 5, 7), lambda r, k: times(r, 10.197), ("kgf cm",)),
    "load on the way": Kind((2, 4, 6), lambda r, k: loaded_on_the_way(r), ("load",)),
    "base tilted": Kind((3, 5, 7), lambda r, k: under_gravity(r, 0.17, 0.26, -1.0), ("tilted", "gravity")),
    "gravity upwards": Kind((2, 4, 6), lambda r, k: under_gravity(r, 0.0, 0.0, 1.0), ("gravity",)),
    "too short": Kind((4, 6), options={"seconds": 2.0}),
    "too slow": Kind((5, 7), options={"base": 0.004}, faster=BASE / 0.004),
    "stamps twice": Kind((3,), lambda r, k: stamped_twice(r), ("does not increase",)),
    "stamps twice, dropped": Kind((3,), lambda r, k: replace(stamped_twice(r), words=("--drop-duplicates",))),
}


# ------------------------------------------------------------------------------------------- what is said of them


class Said(NamedTuple):
    """What the command said of one recording: its class, exit code, findings, and the error of the prediction."""

    kind: str
    joints: int
    became: str
    code: int
    findings: list[dict[str, Any]]
    error: float
    seconds: float
    text: str


def said(arguments: Iterable[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `mbcli`, in this process."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        code = run(list(arguments))
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    return code, out, err


def prediction_error(arm: Arm, document: dict[str, Any], base: float) -> float:
    """Of efforts in a motion that was not recorded, by the truth, joint by joint with the weight of its size."""
    subject = Subject(arm.plant, frictions=("viscous", "coulomb", "offset"), armature=True)
    found = {p["name"]: p["new"] for p in document["parameters"]}
    x = np.array([found[name] for name in subject.names])
    _, q, v, vdot = harmonics(arm, 77, SECONDS, base, 1000)
    truth = arm.efforts(q, v, vdot)
    return float(np.linalg.norm(subject.columns(q, v, vdot) @ x - truth) / np.linalg.norm(truth))


def tried(name: str, kind: Kind, k: int, arm: Arm, folder: str) -> Said:
    r = kind.make(recorded(arm, f"{name} {k}", **kind.options), k)
    path = os.path.join(folder, f"{name.replace(' ', '_').replace(',', '')}_{arm.joints}_{k}.csv")
    r.write(path)
    start = time.perf_counter()
    code, out, err = said(["identify", arm.path, "--data", path, "--json", *r.words])
    seconds = time.perf_counter() - start
    document = json.loads(out) if out else {}
    findings = document.get("findings", [])
    error = prediction_error(arm, document, BASE) if document else np.nan
    joint = kind.joint(k)
    texts = [(f["message"], f["column"] or "") for f in findings if f["severity"] == "error"]
    texts = texts or [(line, line) for line in err.splitlines()]
    named = any(
        any(word in message for word in kind.words) and (joint is None or arm.names[joint] in column + message)
        for message, column in texts
    )
    unsure = any(f["code"] in UNSURE for f in findings) or document.get("known_speed", 0.0) < kind.faster
    if code == BUG:
        became = "WRONG"
    elif code and kind.words:
        became = "named" if named else "other cause"
    elif code:
        became = "unknown" if unsure and document else "false alarm"
    elif error <= RIGHT:
        became = "recovered"
    else:
        became = "unknown" if unsure else "WRONG"
    return Said(name, arm.joints, became, code, findings, error, seconds, err)


def everything(only: str, folder: str) -> Iterable[Said]:
    arms: dict[int, Arm] = {}
    for name, kind in KINDS.items():
        for k, joints in enumerate(kind.arms):
            if only in f"{name} {joints}":
                if joints not in arms:
                    arms[joints] = Arm(joints, folder)
                yield tried(name, kind, k, arms[joints], folder)


DRAWN: dict[str, Callable[[Recording], Recording]] = {
    "without noise": lambda r: replace(r, q=r.exact[0], tau=r.exact[1]),
    "clean": lambda r: r,
    "coloured noise": lambda r: coloured(r, 0.05),
    "efforts in steps": in_steps,
    "encoders 0.09 deg": encoders,
    "all of these": lambda r: encoders(in_steps(coloured(r, 0.05))),
}


def in_standard_errors(name: str, draws: int, folder: str, joints: tuple[int, ...] = (2, 3, 4)) -> Any:
    """|found - true| over the standard error, of the viscous and Coulomb friction of so many drawn recordings."""
    arms, found = [Arm(n, folder) for n in joints], []
    for k in range(draws):
        arm, path = arms[k % len(arms)], os.path.join(folder, "drawn.csv")
        DRAWN[name](recorded(arm, f"{name} drawn {k}")).write(path)
        document = json.loads(said(["identify", arm.path, "--data", path, "--json"])[1])
        for kind, truth in (("viscous", arm.viscous), ("coulomb", arm.coulomb)):
            numbers = [p for p in document["parameters"] if p["kind"] == kind]
            found += [abs(p["new"] - t) / p["standard_error"] for p, t in zip(numbers, truth, strict=True)]
    return np.array(found)


def line(s: Said) -> str:
    codes = sorted({f"{f['code']} {f['column'] or ''}".strip() for f in s.findings}) or s.text.splitlines()[:1]
    error = "" if np.isnan(s.error) else f"{100 * s.error:6.1f} %"
    return f"{s.kind:22s} {s.joints}  {s.became:12s} {s.code}  {error:9s} {s.seconds:5.2f} s  {'; '.join(codes)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD", help="kinds with this in 'KIND JOINTS'")
    parser.add_argument("--keep", metavar="FOLDER", help="write models and recordings there")
    parser.add_argument("--errors", type=int, default=0, metavar="DRAWS", help="recordings of each kind")
    options = parser.parse_args()
    if options.errors:
        with tempfile.TemporaryDirectory() as folder:
            for name in DRAWN:
                ratios = in_standard_errors(name, options.errors, folder)
                within = 100.0 * (ratios <= 2.0).mean()
                print(
                    f"{name:18s} {within:5.1f} % of {len(ratios)} within two, the largest {ratios.max():.1f}",
                    flush=True,
                )
        return 0
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for s in everything(options.only, folder):
            print(line(s), flush=True)
            counts[s.became] = counts.get(s.became, 0) + 1
    print(f"{sum(counts.values())} recordings: {', '.join(f'{n} {what}' for what, n in counts.items())}")
    return int(bool(counts.get("WRONG") or counts.get("false alarm")))


if __name__ == "__main__":
    sys.exit(main())
