"""A linear policy learns to keep a rod upright on a cart: the cross-entropy method, a policy in each of 256 worlds.

python docs/examples/learn_to_balance.py
"""

from pathlib import Path

import numpy as np

from mbcli.environments import make_environments

COUNT, BEST, ROUNDS = 256, 32, 12
environments = make_environments(Path(__file__).with_name("balance.task.yaml"), COUNT, seed=0)
width = environments.single_observation_space.shape[0]
rng = np.random.default_rng(0)


def returns_of(weights, seed):
    """Sums of rewards (COUNT,) of an episode; weights (COUNT, width) of each world's policy."""
    observations, _ = environments.reset(seed=seed)
    total, runs = np.zeros(COUNT), np.ones(COUNT, dtype=bool)
    while runs.any():
        actions = np.sum(weights * observations, axis=1, keepdims=True)
        observations, rewards, terminated, truncated, _ = environments.step(actions)
        total += np.where(runs, rewards, 0.0)
        runs &= ~(terminated | truncated)  # a world whose episode has ended goes on with another, which does not count
    return total


mean, deviation = np.zeros(width), 2.0 * np.ones(width)
for k in range(ROUNDS):
    weights = mean + deviation * rng.normal(size=(COUNT, width))
    returns = returns_of(weights, seed=k)
    best = weights[np.argsort(returns)[-BEST:]]
    mean, deviation = best.mean(axis=0), best.std(axis=0) + 0.02
    print(f"round {k + 1:2}: mean return {returns.mean():7.2f}, of the best {np.sort(returns)[-BEST:].mean():7.2f}")

final = returns_of(np.tile(mean, (COUNT, 1)), seed=1000)
print("weights:", dict(zip(environments.observation_names, np.round(mean, 2).tolist(), strict=True)))
print(f"the mean policy from {COUNT} new starts: {final.mean():.1f} of 250, at least {final.min():.1f}")
assert final.min() > 200.0
