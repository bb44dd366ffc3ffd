"""JAX code of a model: values and gradients at many states beside the kernels, and its time beside MJX."""

from __future__ import annotations

import importlib.util
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from mbcli.codegen import Settings, generate
from mbcli.engine.queries.state_batch import StateBatch
from mbcli.models.loading import load_model
from mbcli.models.states import set_random_state

STATES, ROUNDS = 4096, 7


def measure_jax(path):
    """A line: how far values and gradients are off, and microseconds a state of each, in turns."""
    import jax

    jax.config.update("jax_enable_x64", True)
    plant = load_model(path).plant
    context, random, n = plant.CreateDefaultContext(), np.random.default_rng(0), plant.num_velocities()
    with tempfile.TemporaryDirectory() as folder:
        generate(context, ["forward_dynamics", "inverse_dynamics"], folder, Settings("jax", states=5, name="robot"))
        names = {}
        exec(Path(folder, "robot.py").read_text(), names)
    scratch, q = plant.CreateDefaultContext(), np.empty((STATES, plant.num_positions()))
    for row in q:
        set_random_state(plant, scratch, random)
        row[:] = scratch.state.q
    v, tau = random.normal(size=(2, STATES, n))
    batch, row = StateBatch(plant.model), {"robot": Path(path).stem, "velocities": n, "states": STATES}
    accelerations = jax.jit(names["forward_dynamics"])
    start = time.perf_counter()
    found = np.asarray(accelerations(q, v, tau))
    row["compiled in"] = time.perf_counter() - start
    wanted = batch.forward_dynamics(q, v, tau)
    row["values off"] = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    by_states = jax.jit(jax.vmap(jax.jacobian(names["inverse_dynamics"], (0, 1))))
    found = [np.asarray(each) for each in by_states(q, v, tau)]
    wanted = batch.inverse_dynamics_derivatives(q, v, tau, by_positions=True)[:2]
    off = [np.abs(a - b).max() / np.abs(b).max() for a, b in zip(found, wanted, strict=True)]
    row["gradients off"] = float(max(off))
    calls = {
        "code": lambda: accelerations(q, v, tau).block_until_ready(),
        "batch": lambda: batch.forward_dynamics(q, v, tau),
    }
    calls |= _mjx(path, q, v, tau) if importlib.util.find_spec("mujoco") else {}
    row |= _seconds(calls)
    print({name: f"{x:.3g}" if isinstance(x, float) else x for name, x in row.items()}, flush=True)
    return row


def _mjx(path, q, v, tau):
    """MJX's accelerations without constraints of all states; the model is what MuJoCo makes of the file."""
    import jax
    import mujoco
    from mujoco import mjx

    model = mujoco.MjModel.from_xml_path(str(path))
    if (model.nq, model.nv) != (q.shape[1], v.shape[1]):
        print(f"MJX: {model.nq} positions and {model.nv} velocities there")
        return {}
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    there = mjx.put_model(model)
    blank = mjx.make_data(there)

    def accelerations(q, v, tau):
        return mjx.forward(there, blank.replace(qpos=q, qvel=v, qfrc_applied=tau)).qacc

    many = jax.jit(jax.vmap(accelerations))
    many(q, v, tau).block_until_ready()
    return {"MJX": lambda: many(q, v, tau).block_until_ready()}


def _seconds(calls):
    """{program: microseconds a state}, the median over rounds by the clock: XLA has threads of its own."""
    rounds = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            rounds[name].append((time.perf_counter() - start) / STATES)
    return {f"{name} [us]": 1e6 * statistics.median(times) for name, times in rounds.items()}
