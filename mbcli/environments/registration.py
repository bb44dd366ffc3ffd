"""Puts the robots of gymnasium_robots.py into gymnasium's registry, as mbcli/Hopper-v0."""

from __future__ import annotations

import gymnasium

# name: (periods of an episode, return at which gymnasium calls the task solved)
ROBOTS: dict[str, tuple[int, float | None]] = {
    "Ant": (1000, 6000.0),
    "HalfCheetah": (1000, 4800.0),
    "Hopper": (1000, 3800.0),
    "Humanoid": (1000, None),
    "HumanoidStandup": (1000, None),
    "InvertedDoublePendulum": (1000, 9100.0),
    "InvertedPendulum": (1000, 950.0),
    "Pusher": (100, 0.0),
    "Reacher": (50, -3.75),
    "Swimmer": (1000, 360.0),
    "Walker2d": (1000, None),
}


def register_robots() -> None:
    """Registers those that are not there yet."""
    for robot, (steps, threshold) in ROBOTS.items():
        name = f"mbcli/{robot}-v0"
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="mbcli.environments.gymnasium_robots:make_robot",
                vector_entry_point="mbcli.environments.gymnasium_robots:make_robots",
                max_episode_steps=steps,
                reward_threshold=threshold,
                kwargs={"robot": robot},
            )
