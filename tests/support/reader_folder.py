"""A folder with the files of which documents speak: a reader's robots, motions, logs and controllers.

Names stand for files of a kind: `robot.urdf` is a small arm with a tool, `arm.urdf` one of seven joints, others are
samples.
"""

import re
import shutil

from command_line import succeed
from document_commands import environment_in
from repository import ROOT, SAMPLES

from mbcli.models import load_model

EXAMPLES = ROOT / "docs" / "examples"
TOOL = """<link name="tool"/><joint name="mount" type="fixed"><parent link="lower"/><child link="tool"/>
<origin xyz="0 0 -0.8"/></joint></robot>"""
LIFT = """<robot name="lift"><link name="world"/><link name="cabin"><inertial><mass value="5"/><inertia ixx="1" iyy="1"
izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="lift" type="prismatic"><parent link="world"/>
<child link="cabin"/><axis xyz="0 0 1"/><limit lower="0" upper="3" effort="500" velocity="1"/></joint></robot>"""
SRDF = """<robot name="arm7"><group name="arm"><joint name="elbow"/></group>
<group_state name="home" group="arm"><joint name="elbow" value="0.5"/></group_state></robot>"""
XACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="arm"><xacro:arg name="mass" default="1"/>
<link name="a"><inertial><mass value="$(arg mass)"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial></link></robot>"""
WITH_SENSOR = """<mujoco><worldbody><body name="b"><joint name="j"/><geom size="0.1"/><site name="s"/></body>
</worldbody><sensor><gyro name="imu" site="s"/></sensor></mujoco>"""
MOUNT = """  <joint name="mount" type="fixed">
    <parent link="world"/>
    <child link="base"/>
  </joint>
"""
ARM_NAMES = {"joint_4": "elbow", "joint_6": "wrist", "hand": "gripper", "flange": "tool"}
COPIES = {
    "quadruped.urdf": SAMPLES / "quadruped.urdf",
    "pendulum.urdf": SAMPLES / "pendulum.urdf",
    "robot.sdf": SAMPLES / "double_pendulum.sdf",
    "arm.sdf": SAMPLES / "all_joints.sdf",
    "world.sdf": SAMPLES / "pendulum.sdf",
    "model.xml": SAMPLES / "pendulum.xml",
    "warehouse.sdf": SAMPLES / "pendulum.sdf",
    "arm7.urdf": SAMPLES / "arm7.urdf",
    "walker.xml": EXAMPLES / "walker.xml",
    "humanoid.xml": EXAMPLES / "humanoid.xml",
    "trot.py": EXAMPLES / "trot.py",
    "balance.py": EXAMPLES / "balance.py",
}


def write_arm(folder, *, is_fixed=True, has_motors=True):
    """The sample arm by the names of documents; its base stands in the world, or floats."""
    text = (SAMPLES / "arm7.urdf").read_text()
    assert MOUNT in text and '<link name="world"/>' in text
    if not is_fixed:
        text = text.replace(MOUNT, "").replace('<link name="world"/>', "")
    for name, other in ARM_NAMES.items():
        text = text.replace(f'"{name}"', f'"{other}"')
    if not has_motors:
        text = re.sub(r"<transmission.*?</transmission>", "", text, flags=re.S)
    (folder / "arm.urdf").write_text(text)


def make_folder(folder):
    """Puts the files there; the current folder is this one."""
    environment_in(folder)
    for name, source in COPIES.items():
        shutil.copy(source, folder / name)
    robot = (SAMPLES / "double_pendulum.urdf").read_text().replace("</robot>", TOOL)
    for name in ("robot.urdf", "last_week.urdf", "robots/a.urdf", "robots/b.urdf"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(robot)
    write_arm(folder)
    rows = range(50)
    texts = {
        "lift.urdf": LIFT,
        "robot.xml": WITH_SENSOR,
        "arm.srdf": SRDF,
        "arm.urdf.xacro": XACRO,
        "motion.csv": "time,shoulder,elbow,shoulder_w,elbow_w\n"
        + "".join(f"{k / 100},{k / 10},0,10,0\n" for k in rows),
        "plan.csv": f"time,{','.join(f'joint_{k}' for k in range(1, 8))}\n"
        + "".join(f"{k / 10}{7 * f',{k / 100}'}\n" for k in rows),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)


def write_starts(folder, model):
    """Two rows of positions of a model, both its default."""
    plant = load_model(folder / model).plant
    row = ",".join(map(repr, plant.GetDefaultPositions().tolist()))
    (folder / "starts.csv").write_text("\n".join([",".join(plant.GetPositionNames()), row, row, ""]))


def make_logs(folder):
    """Logs of short runs of the robot, as earlier commands of a reader have left them."""
    run = ("-q", "simulate", folder / "robot.urdf", "--at", "elbow=0.3", "-t", 2, "-o")
    succeed(*run, folder / "run.h5")
    for name in ("before", "new", "old"):
        shutil.copy(folder / "run.h5", folder / f"{name}.h5")
