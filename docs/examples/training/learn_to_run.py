"""A linear policy learns to run: augmented random search (Mania, Guy and Recht, 2018, version V2-t) in 64 worlds.

python docs/examples/training/learn_to_run.py cheetah 1

The words are a folder and a seed. It writes policy.npz, curve.csv and run.h5, a run of 8 s.
"""

import csv
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np

from mbcli.environments import Policy  # and registers the robot
from mbcli.environments.gymnasium_robots import ROBOTS, robot_model
from mbcli.simulation import simulate

ROBOT, FOLDER, SEED = "HalfCheetah", Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
DIRECTIONS, BEST, ROUNDS, STEP, NOISE = 32, 8, 40, 0.02, 0.03
RUNS = 100  # episodes that say what the policy gets in the end


class Seen:
    """Mean and deviation of all observations so far."""

    def __init__(self, width):
        self.count, self.mean, self.squares = 1e-4, np.zeros(width), np.ones(width) * 1e-4

    def add(self, rows):
        count, away = len(rows), rows.mean(axis=0) - self.mean
        whole = self.count + count
        self.squares += np.square(rows - rows.mean(axis=0)).sum(axis=0) + away**2 * self.count * count / whole
        self.mean, self.count = self.mean + away * count / whole, whole

    @property
    def deviation(self):
        return np.sqrt(self.squares / self.count) + 1e-6


def episodes(environments, weights, seen, seed, learns=True):
    """Returns and lengths (n,) of an episode of each world; weights (n, actions, observations), or those of all."""
    count, scaled, mean = environments.num_envs, weights / seen.deviation, seen.mean.copy()
    returns, lengths, runs = np.zeros(count), np.zeros(count), np.ones(count, dtype=bool)
    observations, _ = environments.reset(seed=seed)
    while runs.any():
        if learns:
            seen.add(observations[runs])
        actions = np.einsum("...ij,nj->ni" if weights.ndim == 2 else "nij,nj->ni", scaled, observations - mean)
        observations, rewards, terminated, truncated, _ = environments.step(actions)
        returns[runs] += rewards[runs]
        lengths[runs] += 1
        runs &= ~(terminated | truncated)
    return returns, lengths


def main():
    """Learns, tests and runs."""
    rng, began, steps, rows = np.random.default_rng(SEED), time.perf_counter(), 0, []
    many = gymnasium.make_vec(f"mbcli/{ROBOT}-v0", num_envs=2 * DIRECTIONS, seed=SEED)
    seen = Seen(many.single_observation_space.shape[0])
    weights = np.zeros((many.single_action_space.shape[0], many.single_observation_space.shape[0]))
    for k in range(ROUNDS):
        directions = rng.normal(size=(DIRECTIONS, *weights.shape))
        tried = weights + NOISE * np.concatenate([directions, -directions])
        returns, lengths = episodes(many, tried, seen, seed=1000 * SEED + k)
        up, down = returns.reshape(2, -1)
        best = np.argsort(np.maximum(up, down))[-BEST:]
        size = BEST * np.concatenate([up[best], down[best]]).std()
        weights = weights + STEP / size * np.einsum("n,nij->ij", (up - down)[best], directions[best])
        steps += int(lengths.sum())
        rows.append((steps, time.perf_counter() - began, float(returns.mean())))
        if k % 10 == 9:
            print(f"round {k + 1:3}: {steps:9} steps, {rows[-1][1]:4.0f} s, mean return {rows[-1][2]:6.1f}", flush=True)
    print(f"{time.process_time():.0f} s of processor time")
    tests = gymnasium.make_vec(f"mbcli/{ROBOT}-v0", num_envs=RUNS, seed=SEED)
    returns, lengths = episodes(tests, weights, seen, seed=10**6 + SEED, learns=False)
    print(f"{RUNS} episodes: return {returns.mean():.1f} +- {returns.std():.1f}, length {lengths.mean():.1f}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    np.savez(FOLDER / "policy.npz", weights=weights, mean=seen.mean, deviation=seen.deviation)
    with open(FOLDER / "curve.csv", "w", newline="") as file:
        csv.writer(file).writerows([("steps", "seconds", "mean_return"), *rows])
    model, task = robot_model(ROBOT), ROBOTS[ROBOT]
    period = task.FRAMES * model.plant.time_step()
    policy = Policy(lambda rows: (rows - seen.mean) / seen.deviation @ weights.T, task(), period=period)
    simulate(model, 8.0, controller=policy, log=FOLDER / "run.h5", force=True)


if __name__ == "__main__":
    main()
