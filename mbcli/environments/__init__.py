"""Environments to learn in: many worlds of one model with the interface of gymnasium's vector environments.

    from mbcli.environments import make_environments

    environments = make_environments("balance.yaml", 256, seed=0)
    observations, info = environments.reset(seed=0)
    observations, rewards, terminated, truncated, info = environments.step(environments.action_space.sample())

vector_environment  VectorEnvironment, a gymnasium.vector.VectorEnv (extra `gymnasium`)
single_environment  Environment, a gymnasium.Env: one world of these
gymnasium_robots    robots of gymnasium, which the import of this package registers: mbcli/Hopper-v0
registration        puts them into gymnasium's registry
runner_environments RunnerEnvironments, of RLlib's runners
stable_baselines    StableBaselinesEnvironments, a VecEnv of Stable-Baselines3 (extra `sb3`)
world_pictures      what render() draws
policy              Policy: what acts in environments acts in runs, as their controller
policy_scores       what policies get in episodes
network_file        neural networks of ONNX and TorchScript files
task                Task: what a policy sees and does, rewards, starts and ends
task_file           tasks as YAML
term_registry       the terms of such tasks by name
terms               observations, rewards, ends, starts: one function each
acting_terms        actions, commands, events: one function each
term_modifiers      keys that all observations or actions may have: delay, noise, history and others
terrain             ground of tiles in levels, one height field
terrain_tiles       the kinds of tiles: one function each
parameter_draws     parameters of worlds and episodes
term_kinds          what keys of terms may have
task_worlds         TaskWorlds: worlds with actions and motions of bodies
world_random        random numbers of each world and episode
"""

from importlib.util import find_spec

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.environments.policy import Policy as Policy
    from mbcli.environments.single_environment import Environment as Environment, make_environment as make_environment
    from mbcli.environments.task import Task as Task
    from mbcli.environments.task_file import read_task as read_task
    from mbcli.environments.task_worlds import TaskWorlds as TaskWorlds
    from mbcli.environments.vector_environment import (
        VectorEnvironment as VectorEnvironment,
        make_environments as make_environments,
    )
    from mbcli.environments.world_random import WorldRandom as WorldRandom


if find_spec("gymnasium") is not None:
    from mbcli.environments.registration import register_robots

    register_robots()
