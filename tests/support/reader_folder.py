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
TIP = """<link name="tip"/><joint name="end" type="fixed"><parent link="rod"/><child link="tip"/></joint></robot>"""
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
    "leg.xml": SAMPLES / "closed_chains" / "closed_leg.xml",
    "stand.yaml": SAMPLES / "closed_chains" / "closed_leg.stance.yaml",
    "cart.sdf": SAMPLES / "cart_pole.sdf",
    "cart_pole.sdf": SAMPLES / "cart_pole.sdf",
}
TABLE = """<sdf version="1.9"><model name="table"><static>true</static><pose>0 0 -3 0 0 0</pose><link name="top">
<collision name="c"><geometry><box><size>2 2 0.1</size></box></geometry></collision></link></model></sdf>"""
GRIPPER_XACRO = XACRO.replace('"mass" default="1"', '"use_gripper" default="false"').replace("$(arg mass)", "1")
SCENE = """directives:
- add_model: {name: arm, file: arm.urdf}
"""
SWING_UP = """class Swing:
    def __call__(self, q, v):
        return -0.1 * v
"""
ROWS = 50  # of motions


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
    for name in (
        "robot.urdf",
        "last_week.urdf",
        "robots/a.urdf",
        "robots/b.urdf",
        "last_week/a.urdf",
        "last_week/b.urdf",
    ):
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
    texts |= {p.name: p.read_text().replace("../../", "") for p in EXAMPLES.glob("*.control.yaml")}
    for name, text in texts.items():
        (folder / name).write_text(text)


def make_files_of_help(folder):
    """What examples of the help of commands have beside: loops, scenes, tables, and logs that were cut."""
    loop = (SAMPLES / "closed_chains" / "four_bar.urdf").read_text().replace('"left"', '"crank"')
    (folder / "four_bar.urdf").write_text(loop)
    (folder / "assembled.json").write_text(succeed("assemble", "four_bar.urdf", "--at", "crank=0.3", "--json").out)
    succeed("check", "robots/", "--json", "-o", "accepted.json")
    texts = {"table.sdf": TABLE, "robot.urdf.xacro": GRIPPER_XACRO, "scene.dmd.yaml": SCENE, "swing_up.py": SWING_UP}
    texts |= {"poses.csv": "tool_x,tool_y,tool_z\n0.4,0,0.5\n", "runs.csv": "joint.elbow.damping\n0.1\n"}
    texts["pendulum.urdf"] = (SAMPLES / "pendulum.urdf").read_text().replace("</robot>", TIP)
    for name, text in texts.items():
        (folder / name).write_text(text)
    write_starts(folder, "quadruped.urdf", 4)
    stand = ("-q", "simulate", "quadruped.urdf", "--ground", "--hold")
    succeed(*stand, "-t", 0.1, "-o", "stand.h5")
    succeed(*stand, "--states", "starts.csv", "--each", "-t", 0.05, "-o", "all.h5")
    for name in ("yesterday.h5", "today.h5", "a.h5", "b.h5", "run.h5.partial", "run.recovered.h5"):
        shutil.copy(folder / "run.h5", folder / name)
    content = bytearray((folder / "run.h5").read_bytes())
    content[len(content) // 2] ^= 255
    (folder / "damaged.h5").write_bytes(content)


def write_motion(folder, model, name, *, has_accelerations):
    """A table of a model at rest over time, of what its name says: states, positions to follow, or efforts."""
    plant = load_model(folder / model).plant
    values = dict(zip(plant.GetPositionNames(), plant.GetDefaultPositions().tolist(), strict=True))
    if name == "torques.csv":
        values = dict.fromkeys(plant.GetActuatorNames(), 0.0)
    elif name != "pick.csv":
        values |= dict.fromkeys(plant.GetVelocityNames(), 0.0)
        values |= {f"vdot:{n}": 0.0 for n in plant.GetVelocityNames() if has_accelerations}
    rows = [["time", *values], *([k / 100, *values.values()] for k in range(ROWS))]
    (folder / name).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))


def write_starts(folder, model, count=2):
    """Rows of positions of a model, all its default."""
    plant = load_model(folder / model).plant
    row = ",".join(map(repr, plant.GetDefaultPositions().tolist()))
    (folder / "starts.csv").write_text("\n".join([",".join(plant.GetPositionNames()), *[row] * count, ""]))


def make_logs(folder):
    """Logs of short runs of the robot, as earlier commands of a reader have left them."""
    run = ("-q", "simulate", folder / "robot.urdf", "--at", "elbow=0.3", "-t", 2, "-o")
    succeed(*run, folder / "run.h5")
    (folder / "runs").mkdir()
    for name in ("before", "new", "old", "runs/a", "runs/b"):
        shutil.copy(folder / "run.h5", folder / f"{name}.h5")
