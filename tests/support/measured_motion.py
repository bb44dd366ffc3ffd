"""Motions of plants whose parameters are known, as files that identification reads."""

import re

import numpy as np

from mbcli.models.constrained_motion import constrained_dynamics
from mbcli.models.loading import load_model
from mbcli.multibody.assembly.closed_chains import ClosedChains

HAND = """<?xml version="1.0"?>
<robot name="hand">
  <joint name="wrist" type="revolute"><parent link="world"/><child link="palm_link"/><axis xyz="1 0 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="5"/><dynamics damping="0.1" friction="0.0"/></joint>
  <link name="world"/>
  <link name="palm_link"><inertial><origin xyz="0.01 0 0.05"/><mass value="0.5"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.0005"/></inertial></link>
{fingers}</robot>
"""
FINGER = """  <joint name="{n}_base" type="revolute"><parent link="palm_link"/><child link="{n}_one"/>
    <origin xyz="{x} 0.01 0.1" rpy="0.1 0 0.2"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="5" velocity="5"/><dynamics damping="0.02" friction="0.0"/></joint>
  <link name="{n}_one"><inertial><origin xyz="0 0 0.02"/><mass value="0.05"/>
    <inertia ixx="2e-5" ixy="0" ixz="0" iyy="2e-5" iyz="0" izz="4e-6"/></inertial></link>
  <joint name="{n}_tip" type="revolute"><parent link="{n}_one"/><child link="{n}_two"/>
    <origin xyz="0 0 0.04"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="5" velocity="5"/><mimic joint="{n}_base" multiplier="0.8" offset="0.1"/></joint>
  <link name="{n}_two"><inertial><origin xyz="0 0 0.015"/><mass value="0.03"/>
    <inertia ixx="6e-6" ixy="0" ixz="0" iyy="6e-6" iyz="0" izz="2e-6"/></inertial></link>
"""


def hand():
    """The URDF of a hand on a wrist, with two fingers whose tips follow their bases."""
    fingers = "".join(FINGER.format(n=name, x=x) for name, x in (("left", -0.03), ("right", 0.03)))
    return HAND.format(fingers=fingers)


def otherwise(urdf):
    """The same robot with other masses, centres and inertias: all bodies stay possible."""

    def times(factor):
        return lambda match: f'{match[1]}="{factor * float(match[2])!r}"'

    urdf = re.sub(r'(<mass\s+value)="([^"]*)"', times(1.4), urdf)
    return re.sub(r'(i(?:xx|yy|zz))="([^"]*)"', times(1.7), urdf)


def plant_of(path, **options):
    return load_model([str(path)], **options).plant


def forces(plant, q, v, vdot):
    context = plant.CreateDefaultContext()
    found = []
    for row in zip(q, v, vdot, strict=True):
        plant.SetPositions(context, row[0])
        plant.SetVelocities(context, row[1])
        found.append(plant.CalcRequiredForces(context, row[2]))
    return np.array(found)


def drawn_states(plant, count, seed):
    """q, v, vdot of random states, not one after another in time."""
    rng = np.random.default_rng(seed)
    context = plant.CreateDefaultContext()
    q = np.tile(plant.GetPositions(context), (count, 1))
    for row in q:
        plant.SetPositions(context, row)
        row += np.array(plant.MapVelocityToQDot(context, rng.uniform(-1.5, 1.5, plant.num_velocities())))
    q = ClosedChains(context, held={}).manifold.normalized(q)
    return q, *rng.normal(size=(2, count, plant.num_velocities()))


def free_motion(plant, count, seed, base=6):
    """q, v, vdot, tau of a floating robot that is pushed at random: tau of its base is that of the pushes alone."""
    rng = np.random.default_rng(seed)
    q, v, vdot = drawn_states(plant, count, seed)
    pushes = rng.normal(size=(count, plant.num_velocities())) * 20.0
    context, tau = plant.CreateDefaultContext(), np.empty_like(v)
    for k in range(count):
        plant.SetPositions(context, q[k])
        plant.SetVelocities(context, v[k])
        M = plant.CalcMassMatrix(context)
        rest = plant.CalcRequiredForces(context, np.concatenate((np.zeros(base), vdot[k, base:])))
        vdot[k, :base] = np.linalg.solve(M[:base, :base], pushes[k, :base] - rest[:base])
        tau[k] = plant.CalcRequiredForces(context, vdot[k])
    return q, v, vdot, tau


def constrained_motion(plant, count, seed, driven):
    """q, v, vdot, tau of states that satisfy the constraints; tau acts on the driven velocities."""
    rng = np.random.default_rng(seed)
    context = plant.CreateDefaultContext()
    chains = ClosedChains(context, held={})
    start, nv = np.array(plant.GetPositions(context)), plant.num_velocities()
    q, v, vdot, tau = [], [], [], []
    while len(q) < count:
        plant.SetPositions(context, start)
        moved = start + np.array(plant.MapVelocityToQDot(context, rng.uniform(-0.8, 0.8, nv)))
        found = chains.assemble(moved)
        if not found.converged:
            continue
        q.append(found.q)
        v.append(chains.assemble_velocities(found.q, rng.normal(size=nv)))
        plant.SetPositions(context, q[-1])
        plant.SetVelocities(context, v[-1])
        effort = np.zeros(nv)
        effort[driven] = rng.normal(size=len(driven)) * 3.0
        vdot.append(constrained_dynamics(context, tau=effort)["vdot"])
        tau.append(effort)
    return tuple(map(np.array, (q, v, vdot, tau)))


def write_npz(path, q, v, vdot, tau, rate=100.0):
    np.savez(path, time=np.arange(len(q)) / rate, q=q, v=v, vdot=vdot, tau=tau)
    return str(path)


def harmonics(count, nq, seed, seconds=20.0, most=5, size=0.35):
    """time, q, v, vdot of sums of sines."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, seconds, count)
    q, v, vdot = (np.zeros((count, nq)) for _ in range(3))
    for k in range(nq):
        for n in range(1, most + 1):
            w, phase = 2.0 * np.pi * n * 2.0 / seconds, rng.uniform(0.0, 2.0 * np.pi)
            a = size * rng.uniform(0.5, 1.0) / n**0.5
            q[:, k] += a * np.sin(w * t + phase)
            v[:, k] += a * w * np.cos(w * t + phase)
            vdot[:, k] -= a * w * w * np.sin(w * t + phase)
    return t, q, v, vdot


def measured_columns(path, count, seconds, seed=3, noise=1e-4):
    """{name: values} of a motion of a fixed robot with friction: time, q:NAME, v:NAME and tau:NAME, a little noisy."""
    plant = plant_of(path, weld_base=True)
    t, q, v, vdot = harmonics(count, plant.num_positions(), seed, seconds=seconds)
    tau = forces(plant, q, v, vdot) + 0.3 * v + 0.4 * np.sign(v)
    rng = np.random.default_rng(0)
    columns = {"time": t}
    for field, values, size, names in (
        ("q", q, 0.1 * noise, plant.GetPositionNames()),
        ("v", v, 10.0 * noise, plant.GetVelocityNames()),
        ("tau", tau, 200.0 * noise, plant.GetVelocityNames()),
    ):
        values = values + size * rng.normal(size=values.shape)
        columns |= {f"{field}:{name.split('_', 1)[1]}": values[:, k] for k, name in enumerate(names)}
    return columns


def write_csv(path, columns):
    table = np.column_stack(list(columns.values()))
    np.savetxt(path, table, delimiter=",", header=",".join(columns), comments="", fmt="%.9g")
    return str(path)
