"""PPO of Stable-Baselines3 learns a task; the policy becomes an ONNX file, its curve a table and a picture.

python docs/examples/training/learn_a_task.py docs/examples/balance.task.yaml -o balance

Needs `pip install 'mbcli[sb3,onnx,plot]' onnx onnxscript`.
"""

import argparse
import csv
import time
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from mbcli.environments import make_environments
from mbcli.environments.stable_baselines import StableBaselinesEnvironments, export_policy

RATE = 3e-4


class Curve(BaseCallback):
    """Rows of steps, wall-clock seconds and the mean return of the last 100 episodes."""

    def __init__(self):
        super().__init__()
        self.rows, self.began = [], time.perf_counter()

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        episodes = [episode["r"] for episode in self.model.ep_info_buffer]
        if episodes:
            mean = sum(episodes) / len(episodes)
            self.rows.append((self.num_timesteps, time.perf_counter() - self.began, mean))

    def write(self, folder):
        with open(folder / "curve.csv", "w", newline="") as file:
            csv.writer(file).writerows([("steps", "seconds", "mean_return"), *self.rows])
        figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
        axes.plot([row[0] for row in self.rows], [row[2] for row in self.rows])
        axes.set(xlabel="steps", ylabel="mean return of 100 episodes")
        axes.grid(alpha=0.3)
        figure.savefig(folder / "curve.svg")


def main():
    """Learns, and writes policy.onnx, curve.csv and curve.svg into a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", help="a task file")
    parser.add_argument("-o", "--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=150_000)
    parser.add_argument("--worlds", type=int, default=16)
    given = parser.parse_args()
    torch.set_num_threads(1)
    many = make_environments(given.task, given.worlds, seed=given.seed, autoreset="same_step")
    environments, curve = VecNormalize(VecMonitor(StableBaselinesEnvironments(many))), Curve()
    sizes = {"n_steps": 64, "batch_size": 256, "n_epochs": 10, "learning_rate": lambda left: left * RATE}
    model = PPO("MlpPolicy", environments, seed=given.seed, device="cpu", **sizes)
    model.learn(given.steps, curve)
    given.folder.mkdir(parents=True, exist_ok=True)
    curve.write(given.folder)
    export_policy(model, given.folder / "policy.onnx", environments)
    steps, seconds, mean = curve.rows[-1]
    print(f"{steps} steps in {seconds:.0f} s; mean return of the last 100 episodes: {mean:.1f}")


if __name__ == "__main__":
    main()
