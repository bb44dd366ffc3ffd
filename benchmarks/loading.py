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


PROGRAMS = ("mbcli", "Drake", "Pinocchio", "MuJoCo")
LOADERS = dict(zip(PROGRAMS, (_mbcli, _drake, _pinocchio, _mujoco), strict=True))
READ_SDF = ("mbcli", "Drake")


def loaders(file_type, only=PROGRAMS):
    """{program: function of a text and its format} of those that are installed and read the format."""
    readers = [name for name in (READ_SDF if file_type == "sdf" else PROGRAMS) if name in only]
    return {name: LOADERS[name] for name in readers if name == "mbcli" or installed(name)}


def seconds_to_load(text, file_type, rounds, only=PROGRAMS):
    """{program: processor times of every round}, and the counts of velocities; programs take turns."""
    chosen = loaders(file_type, only)
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


_LINK = """  <link name="link_{k}">
    <inertial>
      <origin xyz="0.001 0 {height:.4f}" rpy="0 0 0"/>
      <mass value="{mass:.3f}"/>
      <inertia ixx="0.0103" ixy="0" ixz="0.0002" iyy="0.0101" iyz="0" izz="0.0021"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.1" rpy="0 0 {turn:.3f}"/>
      <geometry>
        <box size="0.05 0.05 0.2"/>
      </geometry>
      <material name="grey"/>
    </visual>
    <collision>
      <origin xyz="0 0 0.1" rpy="0 0 0"/>
      <geometry>
        <cylinder radius="0.025" length="0.2"/>
      </geometry>
    </collision>
  </link>"""
_JOINT = """  <joint name="joint_{k}" type="revolute">
    <parent link="link_{inboard}"/>
    <child link="link_{k}"/>
    <origin xyz="0 0 0.2" rpy="0 {turn:.3f} 0"/>
    <axis xyz="{axis}"/>
    <limit lower="-1.5" upper="1.5" effort="100" velocity="10"/>
    <dynamics damping="0.1" friction="0"/>{mimic}
  </joint>"""


def chain_urdf(links, *, followers=0):
    """A robot of links one after another with what the files of robots say of each, as URDF text.

    followers: how many of the last joints follow the first ones, which are as many.
    """
    parts = ['<robot name="chain">', '  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>']
    for k in range(links):
        turn = 0.001 * (k % 100)
        parts.append(_LINK.format(k=k, height=0.1 + 1e-4 * (k % 10), mass=1 + 0.001 * (k % 500), turn=turn))
        if k:
            leader = k - (links - 1 - followers)
            mimic = f'\n    <mimic joint="joint_{leader}" multiplier="1.5" offset="0.1"/>' if leader > 0 else ""
            axis = ("1 0 0", "0 1 0", "0 0 1")[k % 3]
            parts.append(_JOINT.format(k=k, inboard=k - 1, turn=turn, axis=axis, mimic=mimic))
    return "\n".join([*parts, "</robot>"])


def hand_urdf(followers):
    """A base with hinges side by side, each of which another hinge on its link follows, as URDF text."""
    inertia = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    parts = ['<robot name="hand">', f'<link name="base">{inertia}</link>']
    for k in range(followers):
        for part, inboard, mimic in (("a", "base", ""), ("b", f"a{k}", f'<mimic joint="a{k}"/>')):
            parts.append(
                f'<link name="{part}{k}">{inertia}</link>\n<joint name="{part}{k}" type="continuous">'
                f'<parent link="{inboard}"/><child link="{part}{k}"/><axis xyz="0 1 0"/>{mimic}</joint>'
            )
    return "\n".join([*parts, "</robot>"])


def loops_urdf(loops):
    """A base with four-bars side by side, each closed by a hinge, as URDF text."""
    inertia = '<mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    parts = ['<robot name="loops">', f'<link name="base"><inertial>{inertia}</inertial></link>']
    for k in range(loops):
        for link in "abc":
            parts.append(f'<link name="{link}{k}"><inertial><origin xyz="0 0 0.5"/>{inertia}</inertial></link>')
        for link, inboard, place in (("a", "base", f"0 {k} 0"), ("b", "base", f"1 {k} 0"), ("c", f"a{k}", "0 0 1")):
            parts.append(
                f'<joint name="{link}{k}" type="continuous"><parent link="{inboard}"/><child link="{link}{k}"/>'
                f'<origin xyz="{place}"/><axis xyz="0 1 0"/></joint>'
            )
        ends = f'<link1 link="c{k}" xyz="1 0 0" rpy="0 0 0"/><link2 link="b{k}" xyz="0 0 1" rpy="0 0 0"/>'
        parts.append(f'<loop_joint name="d{k}" type="continuous">{ends}<axis xyz="0 1 0"/></loop_joint>')
    return "\n".join([*parts, "</robot>"])


def seconds_to_first_and_next_context(text):
    """Processor times from a text to a context, and of another context."""
    from mbcli.multibody.parsing import Parser
    from mbcli.multibody.plant import MultibodyPlant

    started = time.process_time()
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModelsFromString(text, "urdf")
    plant.Finalize()
    plant.CreateDefaultContext()
    first = time.process_time() - started
    plant.CreateDefaultContext()
    return first, time.process_time() - started - first
