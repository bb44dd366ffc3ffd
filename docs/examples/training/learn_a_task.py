"""PPO of Stable-Baselines3 learns a task; the policy becomes an ONNX file, its curve a table and a picture.

python docs/examples/training/learn_a_task.py docs/examples/balance.task.yaml -o balance
python docs/examples/training/learn_a_task.py docs/examples/training/go1.task.yaml -o go1
python docs/examples/training/learn_a_task.py mbcli/Hopper-v0 -o hopper
python docs/examples/training/learn_a_task.py mbcli/HalfCheetah-v0 -o half_cheetah

Needs `pip install 'mbcli[sb3,onnx,plot]' onnx onnxscript`.
"""

import argparse
import csv
import time
from pathlib import Path

import gymnasium
import matplotlib.pyplot as plt
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from mbcli.environments import make_environments
from mbcli.environments.stable_baselines import StableBaselinesEnvironments, export_policy

WIDE = {"net_arch": [128, 128], "activation_fn": torch.nn.ELU, "log_std_init": -1.0}
RECIPES = {  # by the name of a task; COMMON has what one leaves out
    "go1.task.yaml": {
        "worlds": 256,
        "steps": 6_000_000,
        "rate": 5e-4,
        "n_steps": 24,
        "batch_size": 1536,
        "n_epochs": 5,
        "ent_coef": 0.003,
        "target_kl": 0.02,
        "policy_kwargs": WIDE,
    },
    "Hopper-v0": {"steps": 1_500_000, "n_steps": 128, "batch_size": 64, "gamma": 0.995},
    "HalfCheetah-v0": {
        "worlds": 64,
        "steps": 3_000_000,
        "gamma": 0.98,
        "gae_lambda": 0.92,
        "ent_coef": 0.0004,
        "policy_kwargs": WIDE | {"activation_fn": torch.nn.ReLU, "ortho_init": False},
    },
}
COMMON = {"worlds": 16, "steps": 150_000, "rate": 3e-4, "n_steps": 64, "batch_size": 256, "n_epochs": 10, "gamma": 0.99}


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
            if len(self.rows) % 20 == 0:
                print("{:9} steps, {:5.0f} s, mean return {:.1f}".format(*self.rows[-1]), flush=True)

    def write(self, folder):
        with open(folder / "curve.csv", "w", newline="") as file:
            csv.writer(file).writerows([("steps", "seconds", "mean_return"), *self.rows])
        figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
        shown = self.rows[:: len(self.rows) // 200 + 1]
        axes.plot([row[0] for row in shown], [row[2] for row in shown])
        axes.set(xlabel="steps", ylabel="mean return of 100 episodes")
        axes.grid(alpha=0.3)
        figure.savefig(folder / "curve.svg")


def worlds_of(task, count, seed):
    """The worlds of a task file, or of an environment of gymnasium."""
    options = {"num_envs": count, "seed": seed, "autoreset": "same_step"}
    return make_environments(task, **options) if Path(task).is_file() else gymnasium.make_vec(task, **options)


def main():
    """Learns, and writes policy.onnx, curve.csv and curve.svg into a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", help="a task file, or an environment of gymnasium")
    parser.add_argument("-o", "--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="default: those of the recipe")
    given = parser.parse_args()
    torch.set_num_threads(1)
    recipe = COMMON | RECIPES.get(Path(given.task).name, {})
    count, steps, rate = (recipe.pop(key) for key in ("worlds", "steps", "rate"))
    many = worlds_of(given.task, count, given.seed)
    seen = VecMonitor(StableBaselinesEnvironments(many))
    environments, curve = VecNormalize(seen, gamma=recipe["gamma"]), Curve()
    model = PPO("MlpPolicy", environments, lambda left: left * rate, seed=given.seed, device="cpu", **recipe)
    model.learn(given.steps or steps, curve)
    given.folder.mkdir(parents=True, exist_ok=True)
    curve.write(given.folder)
    export_policy(model, given.folder / "policy.onnx", environments)
    done, seconds, mean = curve.rows[-1]
    print(f"{done} steps, {seconds:.0f} s, {time.process_time():.0f} s of processor time; mean return {mean:.1f}")


if __name__ == "__main__":
    main()
