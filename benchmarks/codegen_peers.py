"""Code of a model beside Pinocchio and CasADi: operations, and nanoseconds a call in turns."""

from __future__ import annotations

import ctypes
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from lxml import etree

from benchmarks import own
from benchmarks.measure import THOROUGH, seconds_per_call
from mbcli.codegen import Settings, generate

FUNCTIONS = {"rnea": "inverse_dynamics", "aba": "forward_dynamics", "crba": "mass_matrix"}
LEFT_OUT = ("visual", "collision", "transmission", "gazebo", "dynamics", "mimic", "limit", "safety_controller")
CALLS = 20_000
FLAGS = ["-O2", "-fPIC", "-shared"]
LOOP = """#include "robot.h"
typedef long long casadi_int;
int casadi_{name}(const double **arg, double **res, casadi_int *iw, double *w, int mem);
static double w[1000000];
void run_code_{name}(int calls, const double *q, const double *v, const double *x, double *out)
{{
    for (int k = 0; k < calls; k++) robot_{function}({ours});
}}
void run_casadi_{name}(int calls, const double *q, const double *v, const double *x, double *out)
{{
    const double *arg[3] = {{q, v, x}};
    double *res[1] = {{out}};
    casadi_int iw[16];
    for (int k = 0; k < calls; k++) casadi_{name}(arg, res, iw, w, 0);
}}
"""
PINOCCHIO = """#include <pinocchio/parsers/urdf.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
static pinocchio::Model *model;
static pinocchio::Data *data;
typedef Eigen::Map<const Eigen::VectorXd> Vector;
extern "C" void make_robot(const char *path)
{
    model = new pinocchio::Model();
    pinocchio::urdf::buildModel(path, *model);
    data = new pinocchio::Data(*model);
}
#define RUN(NAME, CALL, RESULT, SIZE) \\
extern "C" void run_pinocchio_##NAME(int calls, const double *a, const double *b, const double *c, double *out) { \\
    const Eigen::VectorXd q = Vector(a, model->nq), v = Vector(b, model->nv), x = Vector(c, model->nv); \\
    for (int k = 0; k < calls; k++) CALL; \\
    Eigen::Map<Eigen::VectorXd>(out, SIZE) = Eigen::Map<const Eigen::VectorXd>(data->RESULT.data(), SIZE); }
RUN(rnea, pinocchio::rnea(*model, *data, q, v, x), tau, model->nv)
RUN(aba, pinocchio::aba(*model, *data, q, v, x), ddq, model->nv)
RUN(crba, pinocchio::crba(*model, *data, q), M, model->nv * model->nv)
"""


def plain_robot(path, folder):
    """The path of a URDF without what the programs count in other ways; continuous joints are revolute."""
    tree = etree.parse(str(path), etree.XMLParser(resolve_entities=False, no_network=True))
    for element in tree.xpath("|".join(f"//{name}" for name in LEFT_OUT)):
        element.getparent().remove(element)
    for joint in tree.xpath("//joint[@type]"):
        if joint.get("type") in ("continuous", "revolute", "prismatic"):
            joint.set("type", joint.get("type").replace("continuous", "revolute"))
            etree.SubElement(joint, "limit", lower="-100", upper="100", effort="1e6", velocity="1e6")
    written = Path(folder) / "robot.urdf"
    tree.write(str(written))
    return written


def records(path, folder, peer):
    """What kin_dyn_records.py prints, of a robot without limits; the code of robot() beside it."""
    script = Path(__file__).with_name("kin_dyn_records.py")
    where = subprocess.run(
        [peer, "-c", "import cmeel, os; print(os.path.dirname(os.path.dirname(cmeel.__file__)))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    libraries = os.environ | {"LD_LIBRARY_PATH": f"{where}/cmeel.prefix/lib", "PYTHONPATH": ""}
    done = subprocess.run([peer, script, path, folder], capture_output=True, text=True, env=libraries)
    if done.returncode:
        raise SystemExit(f"{peer} does not record: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def code_of(path, folder, target):
    """The case of benchmarks.own of a robot, and {function: operations}; its code as robot.c or robot.py."""
    root = etree.parse(str(path)).xpath("//link/@name[not(. = //joint/child/@link)]")[0]
    case = own.Case(path, weld=root if root != "world" else None)
    context = case.plant.CreateDefaultContext()
    settings = Settings(target, name="robot", states=3)
    made = generate(context, list(FUNCTIONS.values()), folder, settings, force=True)
    return case, {function["name"]: function["operations"] for function in made.functions}


def measure_operations(path, peer):
    """A line: operations of each, here and there."""
    with tempfile.TemporaryDirectory() as folder:
        robot = plain_robot(path, folder)
        theirs = records(robot, folder, peer)
        case, ours = code_of(robot, folder, "python")
    row = {"robot": Path(path).stem, "velocities": case.plant.num_velocities()}
    row |= {name: [ours[function], theirs["operations"][name]] for name, function in FUNCTIONS.items()}
    counts = ", ".join(
        f"{name} {row[name][0]} of {row[name][1]} ({row[name][0] / row[name][1]:.2f})" for name in FUNCTIONS
    )
    print(f"{row['robot']:30} {row['velocities']:3} velocities: {counts}", flush=True)
    return row


def measure_speed(path, peer):
    """A line a function: nanoseconds a call of each, the median over rounds in turns; all of them agree before."""
    with tempfile.TemporaryDirectory() as folder:
        robot = plain_robot(path, folder)
        theirs = records(robot, folder, peer)
        case, _ = code_of(robot, folder, "c")
        library = _library(folder, Path(theirs["prefix"]), str(robot))
        row = {"robot": Path(path).stem}
        for name in FUNCTIONS:
            row[name] = _turns(case, library, name)
            shown = ", ".join(f"{who} {1e9 * seconds:.0f} ns" for who, seconds in row[name].items())
            print(f"{row['robot']:20} {name}: {shown}", flush=True)
    return row


def _library(folder, prefix, robot):
    """One shared library with the loops of all programs."""
    for name, function in FUNCTIONS.items():
        ours = "q, out" if name == "crba" else "q, v, x, out"
        Path(folder, f"loop_{name}.c").write_text(LOOP.format(name=name, function=function, ours=ours))
    Path(folder, "pinocchio_calls.cpp").write_text(PINOCCHIO)
    sources = ["robot.c", *(f"{kind}_{name}.c" for name in FUNCTIONS for kind in ("casadi", "loop"))]
    subprocess.run(["gcc", *FLAGS, *sources, "-lm", "-o", "code.so"], cwd=folder, check=True)
    include = [
        f"-I{prefix}/include",
        f"-I{prefix}/include/eigen3",
        "-DNDEBUG",
        "-DPINOCCHIO_URDFDOM_TYPEDEF_SHARED_PTR",
    ]
    libraries = [f"-L{prefix}/lib", "-lpinocchio", "-Wl,-rpath," + f"{prefix}/lib"]
    done = subprocess.run(
        [
            "g++",
            "-std=c++17",
            "-w",
            "-O3",
            *FLAGS[1:],
            *include,
            "pinocchio_calls.cpp",
            *libraries,
            "-o",
            "pinocchio.so",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    found = {"code": ctypes.CDLL(f"{folder}/code.so")}
    if done.returncode:
        print(f"Pinocchio is left out: {next((l for l in done.stderr.splitlines() if 'error' in l), '')[:200]}")
    else:
        found["pinocchio"] = ctypes.CDLL(f"{folder}/pinocchio.so")
        found["pinocchio"].make_robot(robot.encode())
    return found


def _turns(case, library, name):
    n = case.plant.num_velocities()
    q, v, x = case.q[0].copy(), case.v[0].copy(), case.vdot.copy()
    outputs, calls = {}, {}

    def call(of, who):
        out = outputs[who] = np.zeros(n * n)
        arrays = [each.ctypes.data_as(ctypes.c_void_p) for each in (q, v, x, out)]
        function = getattr(of, f"run_{who}_{name}")
        return lambda count=CALLS: function(count, *arrays)

    calls["code"], calls["casadi"] = call(library["code"], "code"), call(library["code"], "casadi")
    if "pinocchio" in library:
        calls["pinocchio"] = call(library["pinocchio"], "pinocchio")
    for each in calls.values():
        each(1)
    size = slice(None) if name == "crba" else slice(0, n)
    upper = np.triu_indices(n) if name == "crba" else (np.arange(n),)
    shape = (n, n) if name == "crba" else (n,)
    wanted = outputs["code"][size].reshape(shape)
    for who, out in outputs.items():
        found = out[size].reshape(shape)
        found = found.T if who == "pinocchio" and name == "crba" else found
        np.testing.assert_allclose(found[upper], wanted[upper], atol=1e-9 * np.abs(wanted).max(), err_msg=who)
    kernel = own.repeated_engine_call(case, name, CALLS).run
    seconds = seconds_per_call(calls | {"kernel": kernel}, THOROUGH)
    return {who: statistics.median(rounds) / CALLS for who, rounds in seconds.items()}
