"""From a URDF text to a model that computes: a finalized plant, and what the peers have in its place."""

import logging
import time

from benchmarks.peers import installed


def _mbcli(text):
    from mbcli.multibody.parsing import Parser
    from mbcli.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.001)
    Parser(plant).AddModelsFromString(text, "urdf")
    plant.Finalize()
    return plant.num_velocities()


def _drake(text):
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    logging.getLogger("drake").setLevel(logging.ERROR)
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModelsFromString(text, "urdf")
    plant.Finalize()
    return plant.num_velocities()


def _pinocchio(text):
    import pinocchio

    return pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer()).nv


def _mujoco(text):
    import mujoco

    # without this MuJoCo fixes the base and joins what is fixed
    text = text.replace("</robot>", '<mujoco><compiler fusestatic="false"/></mujoco></robot>')
    return mujoco.MjModel.from_xml_string(text).nv + 6


LOADERS = {"mbcli": _mbcli, "Drake": _drake, "Pinocchio": _pinocchio, "MuJoCo": _mujoco}


def loaders():
    """{program: function of a URDF text} of those that are installed."""
    return {name: load for name, load in LOADERS.items() if name == "mbcli" or installed(name)}


def seconds_to_load(text, rounds):
    """{program: processor times of every round}, and the counts of velocities; programs take turns."""
    chosen = loaders()
    counts = {name: load(text) for name, load in chosen.items()}  # the first one imports
    times = {name: [] for name in chosen}
    for _ in range(rounds):
        for name, load in chosen.items():
            started = time.process_time()
            load(text)
            times[name].append(time.process_time() - started)
    return times, counts


def tree_urdf(links):
    """A robot of links with hinges, two on every other link, as URDF text."""
    inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    parts = ['<robot name="tree">']
    for k in range(links):
        parts.append(f'<link name="link_{k}">\n<inertial><mass value="1"/>{inertia}</inertial>\n</link>')
        if k:
            parts.append(
                f'<joint name="joint_{k}" type="revolute">\n<parent link="link_{(k - 1) // 2}"/>\n'
                f'<child link="link_{k}"/>\n<origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>\n'
                '<limit lower="-1" upper="1" effort="1" velocity="1"/>\n</joint>'
            )
    return "\n".join([*parts, "</robot>"])
