"""From the text of a model file to a model that computes: a finalized plant, and what the peers have in its place."""

import logging
import time

from benchmarks.peers import installed


def _mbcli(text, file_type):
    from mbcli.multibody.parsing import Parser
    from mbcli.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.001)
    Parser(plant).AddModelsFromString(text, file_type)
    plant.Finalize()
    return plant.num_velocities()


def _drake(text, file_type):
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    logging.getLogger("drake").setLevel(logging.ERROR)
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModelsFromString(text, file_type)
    plant.Finalize()
    return plant.num_velocities()


def _pinocchio(text, file_type):
    import pinocchio

    return pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer()).nv


def _mujoco(text, file_type):
    import mujoco

    # without this MuJoCo fixes the base and joins what is fixed
    text = text.replace("</robot>", '<mujoco><compiler fusestatic="false"/></mujoco></robot>')
    return mujoco.MjModel.from_xml_string(text).nv + 6


LOADERS = {"mbcli": _mbcli, "Drake": _drake, "Pinocchio": _pinocchio, "MuJoCo": _mujoco}
READ_SDF = ("mbcli", "Drake")


def loaders(file_type):
    """{program: function of a text and its format} of those that are installed and read the format."""
    readers = READ_SDF if file_type == "sdf" else LOADERS
    return {name: LOADERS[name] for name in readers if name == "mbcli" or installed(name)}


def seconds_to_load(text, file_type, rounds):
    """{program: processor times of every round}, and the counts of velocities; programs take turns."""
    chosen = loaders(file_type)
    counts = {name: load(text, file_type) for name, load in chosen.items()}  # the first one imports
    times = {name: [] for name in chosen}
    for _ in range(rounds):
        for name, load in chosen.items():
            started = time.process_time()
            load(text, file_type)
            times[name].append(time.process_time() - started)
    return times, counts


def as_sdf(urdf):
    """The model of a URDF text as SDFormat text."""
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.load import load_models
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.writing.conversion import converted

    (model,) = load_models(urdf.encode(), input_format="urdf", diagnostics=Diagnostics())
    return converted(model, "sdf", packages=PackageMap(), folder=".").text.decode()


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
