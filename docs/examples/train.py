"""PPO of Stable-Baselines3 learns a task; the policy becomes an ONNX file, its curve a table and a picture.

python docs/examples/train.py balance -o balance
python docs/examples/train.py hopper -o hopper --seed 1

Needs `pip install 'mbcli[sb3,onnx,plot]' onnx onnxscript`.
"""

import argparse
import csv
import time
from pathlib import Path

import gymnasium
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from mbcli.environments import make_environments
from mbcli.environments.stable_baselines import StableBaselinesEnvironments, export_policy

LEARNS = {"n_steps": 256, "batch_size": 256, "n_epochs": 10, "learning_rate": 3e-4}
RECIPES = {  # task file or id of gymnasium, steps, what differs
    "balance": (Path(__file__).with_name("balance.task.yaml"), 150_000, {"n_steps": 64}),
    "hopper": ("mbcli/Hopper-v0", 1_500_000, {"batch_size": 64}),
}


class Curve(BaseCallback):
    """Rows of steps, wall-clock seconds and the mean return of the last 100 episodes."""

    def __init__(self):
        super().__init__()
        self.rows, self.began = [], time.perf_counter()

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        episodes = self.model.ep_info_buffer
        if episodes:
            mean = sum(episode["r"] for episode in episodes) / len(episodes)
            self.rows.append((self.num_timesteps, time.perf_counter() - self.began, mean))
            if len(self.rows) % 50 == 0:
                print(f"{self.num_timesteps:9} steps: mean return {mean:7.1f}", flush=True)


def learn(recipe, seed, steps, worlds):
    """The trained model, its VecNormalize and its Curve."""
    task, usual, more = RECIPES[recipe]
    given = {"seed": seed, "autoreset": "same_step"}
    if isinstance(task, str):
        many = gymnasium.make_vec(task, num_envs=worlds, **given)
    else:
        many = make_environments(task, worlds, **given)
    environments = VecNormalize(VecMonitor(StableBaselinesEnvironments(many)))
    slower = {"learning_rate": lambda left: left * LEARNS["learning_rate"]}
    model = PPO("MlpPolicy", environments, seed=seed, device="cpu", **(LEARNS | more | slower))
    curve = Curve()
    model.learn(steps or usual, curve)
    return model, environments, curve


def draw(rows, path):
    """The curve as a picture."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    axes.plot([row[0] for row in rows], [row[2] for row in rows])
    axes.set(xlabel="steps", ylabel="mean return of 100 episodes")
    axes.grid(alpha=0.3)
    figure.savefig(path)


def main():
    """Learns, and writes policy.onnx, curve.csv and curve.svg into a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", choices=RECIPES)
    parser.add_argument("-o", "--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--worlds", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2, help="of PyTorch")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    given.folder.mkdir(parents=True, exist_ok=True)
    model, environments, curve = learn(given.recipe, given.seed, given.steps, given.worlds)
    with open(given.folder / "curve.csv", "w", newline="") as file:
        csv.writer(file).writerows([("steps", "seconds", "mean_return"), *curve.rows])
    draw(curve.rows, given.folder / "curve.svg")
    export_policy(model, given.folder / "policy.onnx", environments)
    steps, seconds, mean = curve.rows[-1]
    print(f"{steps} steps in {seconds:.0f} s; mean return of the last 100 episodes: {mean:.1f}")


if __name__ == "__main__":
    main()
