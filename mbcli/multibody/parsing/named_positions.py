"""Default positions of a plant by model instance and joint, as the `initial_position` of a scenario gives them."""

import numpy as np

from mbcli.multibody.parsing.scene_names import SceneNames, takes
from mbcli.multibody.tree.joint_kinds import has_quaternion


def set_named_positions(plant, positions):
    """Makes {model instance: {joint: positions}} the default positions of a finalized plant.

    Returns {(model instance, joint): message} of the faults; nothing is changed then.
    """
    names = SceneNames(plant)
    problems, found = {}, []
    for instance, joints in positions.items():
        for name, values in joints.items():
            problem = _problem(names, instance, name, values)
            if problem is not None:
                problems[instance, name] = problem
                continue
            joint = plant.GetJointByName(name, plant.GetModelInstanceByName(instance))
            values = joint.positions_of(values)
            if has_quaternion(joint) and not np.linalg.norm(values[:4]) > 0.0:
                problems[instance, name] = f'the quaternion of joint "{name}" is zero: it gives no orientation'
            found.append((joint, values))
    if not problems:
        for joint, values in found:
            joint.set_default_positions(values)
    return problems


def _problem(names, instance, joint, values):
    try:
        size = names.num_positions(names.require_instance(instance), joint)
    except LookupError as error:
        return str(error)
    return None if takes(size, len(values)) else f'joint "{joint}" has {size} positions, {len(values)} are given'
