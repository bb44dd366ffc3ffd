"""Mutants of SDFormat worlds with sensors and plugins through `mbcli simulate`: a run or findings, no traceback.

MBCLI_FUZZ_WORLDS sets how many (20).
`PYTHONPATH=tests/support python tests/simulation/test_world_mutants.py COUNT` counts the outcomes.
"""

import copy
import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from hostile_logs import attempt
from lxml import etree
from repository import SAMPLES

COUNT = int(os.environ.get("MBCLI_FUZZ_WORLDS", 20))
OUTCOMES = {0: "run", 2: "refused", 3: "findings", 4: "findings", 5: "not finite"}
NUMBERS = ("nan", "inf", "1e400", "-1", "0", "1e308", "-1e-320", "9" * 400, "text", "", "1 2", "0x1", "  ", "é")

SENSORS = "".join(
    f'<sensor name="{kind}_s" type="{kind}"><update_rate>100</update_rate><pose>0 0 0.1 0 0 0</pose>{inside}</sensor>'
    for kind, inside in {
        "imu": "<imu><angular_velocity><x><noise type='gaussian'><mean>0</mean><stddev>0.01</stddev>"
        "<bias_mean>0.1</bias_mean><bias_stddev>0.2</bias_stddev></noise></x></angular_velocity></imu>",
        "altimeter": "<altimeter><vertical_position><noise type='gaussian'><mean>0</mean><stddev>0.1</stddev></noise>"
        "</vertical_position></altimeter>",
        "magnetometer": "<magnetometer/>",
        "air_pressure": "<air_pressure><reference_altitude>30</reference_altitude></air_pressure>",
        "air_speed": "<air_speed/>",
        "navsat": "<navsat/>",
        "contact": "<contact><collision>body_c</collision></contact>",
        "gpu_lidar": "<lidar><scan><horizontal><samples>3</samples><resolution>1</resolution><min_angle>-1</min_angle>"
        "<max_angle>1</max_angle></horizontal></scan><range><min>0.1</min><max>5</max><resolution>0.01</resolution>"
        "</range></lidar>",
    }.items()
)


def _plugin(name, **settings):
    inside = "".join(f"<{tag}>{value}</{tag}>" for tag, value in settings.items())
    return f'<plugin filename="f" name="gz::sim::systems::{name}">{inside}</plugin>'


POSITIONS = _plugin("JointPositionController", joint_name="lift", p_gain=10, d_gain=1, cmd_max=50, cmd_min=-50)
TRAJECTORY = _plugin(
    "JointTrajectoryController", joint_name="lift", position_p_gain=10, velocity_i_gain=1, initial_position=0.05
)
PLUGINS = "".join(
    (
        _plugin("JointController", joint_name="spin", initial_velocity=1, p_gain=1, i_gain=0.1),
        POSITIONS,
        _plugin("ApplyJointForce", joint_name="spin"),
        _plugin("Thruster", joint_name="spin", thrust_coefficient=0.01, propeller_diameter=0.2, fluid_density=1000),
        _plugin(
            "AckermannSteering",
            left_steering_joint="spin",
            right_steering_joint="lift",
            left_joint="spin",
            right_joint="spin",
            wheel_base=1,
            steering_limit=0.4,
            max_velocity=1,
        ),
        _plugin("LiftDrag", link_name="body", cla=1, cda=0.1, area=0.3, forward="1 0 0", upward="0 0 1", cp="0 0 0"),
        _plugin("Hydrodynamics", link_name="body", xU=-1, xUabsU=-2, default_current="0.1 0 0"),
    )
)
OF_WORLD = (
    '<plugin filename="f" name="gz::sim::systems::WindEffects"><horizontal><magnitude><time_for_rise>1</time_for_rise>'
    "<sin><amplitude_percent>0.1</amplitude_percent><period>2</period></sin></magnitude><direction><sin><amplitude>5"
    "</amplitude><period>3</period></sin></direction></horizontal><vertical><time_for_rise>1</time_for_rise></vertical>"
    "<force_approximation_scaling_factor>0.5</force_approximation_scaling_factor></plugin>"
    '<plugin filename="f" name="gz::sim::systems::Buoyancy"><graded_buoyancy><default_density>900</default_density>'
    "<density_change><above_depth>0.3</above_depth><density>1</density></density_change></graded_buoyancy>"
    "<enable>m</enable></plugin>"
)
WORLD = f"""<sdf version="1.10"><world name="w">{OF_WORLD}<gravity>0 0 -9.8</gravity><wind>
<linear_velocity>1 0 0</linear_velocity></wind>
<magnetic_field>1e-5 0 -4e-5</magnetic_field><physics name="p" type="dart"><max_step_size>0.002</max_step_size>
</physics>
<spherical_coordinates><surface_model>EARTH_WGS84</surface_model><latitude_deg>47</latitude_deg>
<longitude_deg>8</longitude_deg>
<elevation>400</elevation><heading_deg>0</heading_deg></spherical_coordinates>
<model name="floor"><static>true</static><link name="l"><collision name="c"><geometry><plane><normal>0 0 1</normal>
</plane>
</geometry><surface><friction><ode><mu>0.8</mu><mu2>0.7</mu2></ode></friction></surface></collision></link></model>
<model name="m"><self_collide>false</self_collide><link name="body"><pose>0 0 0.3 0 0 0</pose>
<enable_wind>true</enable_wind>
<velocity_decay><linear>0.01</linear><angular>0.02</angular></velocity_decay>
<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>
<collision name="body_c"><geometry><box><size>0.4 0.3 0.2</size></box></geometry><surface><bounce>
<restitution_coefficient>0.5</restitution_coefficient><threshold>0.1</threshold></bounce><contact><ode><kp>1e5</kp>
<kd>10</kd>
</ode></contact></surface></collision>{SENSORS}</link>
<link name="wheel"><pose>0 0.3 0.3 0 0 0</pose><inertial><mass>0.5</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy>
<izz>0.01</izz>
</inertia></inertial><collision name="wheel_c"><geometry><sphere><radius>0.1</radius></sphere></geometry>
</collision></link>
<link name="mast"><pose>0 0 0.6 0 0 0</pose><inertial auto="true"/><collision name="mast_c"><density>500</density>
<geometry>
<cylinder><radius>0.05</radius><length>0.3</length></cylinder></geometry></collision></link>
<joint name="spin" type="revolute"><parent>body</parent><child>wheel</child><axis><xyz>0 1 0</xyz><limit>
<effort>5</effort>
<velocity>20</velocity></limit><dynamics><damping>0.01</damping><friction>0.1</friction></dynamics></axis>
<sensor name="wrench" type="force_torque"><force_torque><frame>child</frame></force_torque></sensor></joint>
<joint name="lift" type="prismatic"><parent>body</parent><child>mast</child><axis><xyz>0 0 1</xyz><limit>
<lower>-0.1</lower>
<upper>0.1</upper><stiffness>3000</stiffness><dissipation>2</dissipation></limit></axis></joint>{PLUGINS}</model>
</world></sdf>"""
SOURCES = [
    WORLD,
    WORLD.replace(POSITIONS, TRAJECTORY),
    *(path.read_text() for path in sorted((SAMPLES / "worlds").glob("*.sdf"))),
]


def mutant(draw):
    """The text of a world with one to three things wrong."""
    text = WORLD if draw.random() < 0.6 else draw.choice(SOURCES)
    root = etree.fromstring(text.encode())
    for _ in range(draw.randint(1, 3)):
        nodes = [node for node in root.iter() if isinstance(node.tag, str) and node is not root]
        node, other = draw.choice(nodes), draw.choice(nodes)
        kind = draw.choice(("number", "number", "number", "delete", "double", "rename", "attribute", "text", "move"))
        if kind == "number":
            numbers = [n for n in nodes if n.text and n.text.strip() and n.text.strip()[0] in "-+.0123456789"]
            node = draw.choice(numbers or nodes)
            words = (node.text or "").split() or [""]
            words[draw.randrange(len(words))] = draw.choice(NUMBERS)
            node.text = " ".join(words)
        elif kind == "delete":
            node.getparent().remove(node)
        elif kind == "double":
            node.addnext(copy.deepcopy(node))
        elif kind == "rename":
            node.tag = other.tag
        elif kind == "attribute":
            holders = [n for n in nodes if n.attrib]
            node = draw.choice(holders or nodes)
            key = draw.choice(sorted(node.attrib)) if node.attrib else "name"
            values = [value for n in holders for value in n.attrib.values()]
            node.set(key, draw.choice([*values, "", "world", "a::b", "-1"]))
        elif kind == "text":
            node.text = draw.choice([other.text or "", *NUMBERS])
        elif not any(each is node for each in other.iterancestors()) and other is not node:
            other.append(node)
    return etree.tostring(root)


def tried(folder, seed):
    """(exit code, what was printed) of a mutant: five steps, in a continuous plant for one in five."""
    path = Path(folder) / "mutant.sdf"
    path.write_bytes(mutant(random.Random(seed)))
    duration = ["--dt", "0", "-t", "0.005"] if seed % 5 == 4 else ["-t", "0.005"]
    words = ["simulate", str(path), *duration, "-o", str(Path(folder) / "run.h5"), "--force"]
    code, printed, _ = attempt(words, str(folder))
    return code, printed.decode(errors="replace") if isinstance(printed, bytes) else printed


def is_wrong(code, printed):
    """Whether that is neither a run nor one line, with the file, for each thing that is wrong."""
    if code not in OUTCOMES or "Traceback" in printed or "Warning:" in printed:
        return True
    return code in (2, 3, 4) and not any("error" in line for line in printed.splitlines())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_mutant_of_a_world_runs_or_has_findings(tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    outcomes = Counter()
    for seed in range(COUNT):
        code, printed = tried(tmp_path, seed)
        assert not is_wrong(code, printed), (seed, code, printed[-800:])
        outcomes[OUTCOMES[code]] += 1
    assert outcomes["run"] > COUNT // 4 and outcomes["findings"] > COUNT // 10


def count(number, folder):
    outcomes = Counter()
    for seed in range(number):
        code, printed = tried(folder, seed)
        wrong = is_wrong(code, printed)
        outcomes["wrong" if wrong else OUTCOMES[code]] += 1
        if wrong:
            print(seed, code, printed[-600:], flush=True)
    print(f"{number} mutants of worlds: {dict(outcomes)}", flush=True)


if __name__ == "__main__":
    import tempfile

    os.environ.setdefault("MBCLI_JIT", "0")
    with tempfile.TemporaryDirectory() as name:
        count(int(sys.argv[1]), name)
