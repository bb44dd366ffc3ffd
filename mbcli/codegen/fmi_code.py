"""FMI 3.0: a functional mock-up unit for co-simulation and model exchange, of C code that any importer can compile.

Inputs are the efforts of actuators and where PD controllers aim, states and outputs q and v, further outputs what
functions give at q and v. There are no events: limits of positions are the compliant stops of a continuous plant.
"""

from __future__ import annotations

import io
import os
import platform
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.codegen import c_code
from mbcli.codegen.c_compiler import compile_program
from mbcli.codegen.fmi_description import build_description, fmu_of, internal_step, model_description, token_of
from mbcli.codegen.fmi_source import METHOD, fmu_source
from mbcli.codegen.fmi_test import STEPS, driver
from mbcli.codegen.proof import Proof
from mbcli.codegen.target import Target
from mbcli.common import child_processes
from mbcli.common.output_files import write_in_place
from mbcli.engine.runtime.linking import load_kernels
from mbcli.engine.runtime.model import Data
from mbcli.engine.stepping.integrators import METHODS
from mbcli.errors import NumericalError
from mbcli.multibody.core.position_stops import position_stops
from mbcli.multibody.core.run_plant import plant_of_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.codegen.code import Code
    from mbcli.codegen.proof import States

SUFFIX = ".fmu"
MOTION = "motion.c"
AGREEMENT = 1e-9  # of trajectories with those of the kernels, relative to the largest number
AIMED = 0.1  # part of random numbers that aims are from the start
BEYOND = 0.001  # [rad or m] limits, where stops act in the proof
PLATFORMS = {"linux": ("linux", ".so"), "darwin": ("darwin", ".dylib"), "win32": ("windows", ".dll")}
MACHINES = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


def plant_of_unit(plant: Any) -> Any:
    """A continuous plant as a run has it, with compliant stops at the position limits of its joints."""
    return plant_of_run(plant, stops=position_stops(plant)) if not plant.is_discrete() else plant


def needs(context: Any) -> tuple[str, str]:
    """The functions that give the rates of q and v, in this order."""
    is_tree = not context.state.plant.elements.constraints
    return "position_rates", "forward_dynamics" if is_tree else "constrained_dynamics"


def write(code: Code) -> dict[str, str]:
    """{name of a file: its text}, of the sources and descriptions of the FMU."""
    fmu, model = fmu_of(code), c_code.write(code)
    texts = {name: model[name] for name in (f"{code.name}.h", f"{code.name}.c")}
    token = token_of(code, list(texts.values()))
    texts[f"fmi3_{code.name}.c"] = fmu_source(code, fmu, token)
    texts["buildDescription.xml"] = build_description(code, [name for name in texts if name.endswith(".c")])
    texts["modelDescription.xml"] = model_description(code, fmu, token)
    return texts


def prove(code: Code, folder: str, states: dict[str, States]) -> list[Proof]:
    """Proofs of the functions as those of C; then the FMU is compiled, and has to move as the kernels do."""
    model = compile_program(folder, [f"{code.name}.c"], code.name, "object")
    if model is None:
        return []
    step, token = _step(code), token_of(code, _sources(code, folder))
    q, v, u = _start(code, states)
    tests = c_code.write(code) | c_code.state_files(code, states) | {MOTION: driver(code, token, [*q, *v, *u], step)}
    for name, text in tests.items():
        write_in_place(os.path.join(folder, name), text.encode())
    proofs = c_code.prove(code, folder, states, os.path.basename(model.path))
    sources = [f"fmi3_{code.name}.c", os.path.basename(model.path)]
    off = _deviation(folder, sources, np.concatenate(_motion(code, np.concatenate([q, v]), u, step)))
    for proof in proofs:
        proof.more["compile_time"] = model.seconds
        if proof.function == code.functions[1].name:
            proof.more |= {"fmu": {"integrator": METHOD, "steps": STEPS, "step": step, "deviation": off}}
    compile_program(folder, sources, code.name, "library")
    return proofs


def _deviation(folder: str, sources: list[str], wanted: Any) -> float:
    """How far the FMU is off, relative to the largest number; NumericalError if that is too far, or it does not run."""
    program = compile_program(folder, [MOTION, *sources], "motion")
    assert program is not None
    done = child_processes.run([program.path], capture_output=True, text=True, timeout=c_code.PATIENCE)
    found = np.array([float(word) for word in done.stdout.split()])
    if found.shape != wanted.shape:
        raise NumericalError(f"the FMU is not left: run by its functions it ended by {done.returncode}")
    off = float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))
    if not off <= AGREEMENT:
        raise NumericalError(f"the FMU is not left: after {STEPS} steps it is {off:.3g} off, of {AGREEMENT:g} at most")
    return off


def packed(code: Code, folder: str, texts: Mapping[str, str]) -> dict[str, bytes]:
    """{name of the FMU: its bytes}; with the binary of this machine if the proof left one in the folder."""
    buffer = io.BytesIO()
    system, suffix = PLATFORMS.get(sys.platform, ("", ""))
    binary = os.path.join(folder, code.name + suffix)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            path = name if name == "modelDescription.xml" else f"sources/{name}"
            archive.writestr(zipfile.ZipInfo(path), text, zipfile.ZIP_DEFLATED)  # without a date: the same bytes again
        machine = MACHINES.get(platform.machine())
        if machine and suffix and os.path.exists(binary):
            with open(binary, "rb") as file:
                path = f"binaries/{machine}-{system}/{code.name}{suffix}"
                archive.writestr(zipfile.ZipInfo(path), file.read(), zipfile.ZIP_DEFLATED)
    return {f"{code.name}{SUFFIX}": buffer.getvalue()}


def _start(code: Code, states: dict[str, States]) -> list[Any]:
    """Positions, beyond every limit that is a stop, velocities, efforts within their limits, and aims nearby."""
    fmu, model = fmu_of(code), code.context.state.model
    q, v, tau = (each[0].copy() for each in states[code.functions[1].name].inputs[:3])
    for n, d in enumerate(model.stop_dof):
        q[model.dof_q[d]] = model.stop_value[n] - BEYOND * model.stop_side[n]
    dofs = np.array(fmu.dofs)[list(fmu.servos)]
    aims = np.stack([q[model.dof_q[dofs]] + AIMED * tau[dofs], AIMED * v[dofs]], axis=-1)
    return [q, v, np.append(np.clip(tau[list(fmu.dofs)], -np.array(fmu.limits), fmu.limits), aims)]


def _step(code: Code) -> float:
    """[s] The internal step; a tenth of it on stops, which random velocities close faster than they are made for."""
    return internal_step(code) * (0.1 if code.context.state.model.sizes["nstop"] else 1.0)


def _sources(code: Code, folder: str) -> list[str]:
    texts = []
    for name in (f"{code.name}.h", f"{code.name}.c"):
        with open(os.path.join(folder, name)) as file:
            texts.append(file.read())
    return texts


def _motion(code: Code, y: Any, u: Any, h: float) -> list[Any]:
    """What the proof's program prints, by the interpreted kernels: rates at the start, and the state at the end."""
    model, nq = code.context.state.model, len(code.positions)
    data, kernels, method = Data(model.sizes), load_kernels(False), METHODS[METHOD]
    fmu = fmu_of(code)
    dofs, servos = np.array(fmu.dofs), list(fmu.servos)
    u, aims = u[: len(dofs)], u[len(dofs) :].reshape(-1, 2)
    gains = np.reshape([each.start for each in fmu.variables if each.kind == "gain"], (-1, 2))

    def rates(y: Any) -> Any:
        tau, efforts, of_servos = np.zeros(len(code.velocities)), u.copy(), dofs[servos]
        state = np.stack([y[model.dof_q[of_servos]], y[nq + of_servos]], axis=-1)
        efforts[servos] += (gains * (aims - state)).sum(axis=1)
        np.add.at(tau, dofs, np.clip(efforts, -np.array(fmu.limits), fmu.limits))
        found = [
            f.function.evaluate(kernels, model, data, (*np.split(y, [nq]), tau)[: len(f.function.inputs)], f.of)[0]
            for f in code.functions[:2]
        ]
        return np.concatenate(found)

    first = rates(y)
    for _ in range(STEPS):
        k: list[Any] = []
        for row in method.A:
            k.append(rates(y + h * sum((a * each for a, each in zip(row, k, strict=False)), np.zeros_like(y))))
        y = y + h * sum(b * each for b, each in zip(method.b, k, strict=True))
        kernels.normalize_quaternions(model, y)
    return [first, y]


TARGET = Target(
    write, prove, packed=packed, suffix=SUFFIX, functions=(), needs=needs, time_step=0.0, plant_of=plant_of_unit
)
