"""Further words of commands, whose output is recorded beside that of TRIALS: more options, on larger models.

Files are those of material() of command_cases.py and of `models`.
"""

from mjcf_severity import MODEL as ALL_OF_MJCF
from repository import SAMPLES

MASS = '<mass value="{}"/><inertia ixx=".3" iyy=".2" izz=".25" ixy=".01" ixz=".02" iyz="-.01"/>'
LINK = """<link name="{0}"><inertial><origin xyz=".1 .02 .03" rpy=".1 .2 .3"/>{1}</inertial>
<visual><origin xyz="0 0 .1" rpy="0 .3 0"/><geometry><cylinder radius=".05" length=".3"/></geometry>
<material name="blue"/></visual><collision name="{0}_solid"><origin xyz="0 0 .1"/><geometry>{2}</geometry>
<drake:proximity_properties><drake:compliant_hydroelastic/><drake:mu_dynamic value=".4"/><drake:mu_static value=".5"/>
<drake:hydroelastic_modulus value="1e6"/></drake:proximity_properties></collision></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><origin xyz=".1 .2 .3" rpy=".3 .2 .1"/>
<axis xyz="{4}"/>{5}</joint>"""
LIMIT = '<limit lower="-1" upper="1.5" effort="20" velocity="3"/><dynamics damping=".2" friction=".1"/>'
FOLLOWS = '<dynamics damping=".1"/><mimic joint="ab" multiplier="2" offset=".1"/>'
SHAPES = (
    '<box size=".1 .2 .3"/>',
    '<sphere radius=".1"/>',
    '<cylinder radius=".1" length=".2"/>',
    '<box size=".1 .1 .1"/>',
)
ALL_OF_URDF = f"""<robot name="all" xmlns:drake="http://drake.mit.edu">
<material name="blue"><color rgba="0 0 1 .5"/></material>
{"".join(LINK.format(name, MASS.format(k + 1), SHAPES[k % 4]) for k, name in enumerate("abcdef"))}
{JOINT.format("ab", "revolute", "a", "b", "0 1 1", LIMIT + '<safety_controller k_velocity="1" k_position="2"/>')}
{JOINT.format("bc", "prismatic", "b", "c", "1 0 0", LIMIT + "<drake:joint_spring/>")}
{JOINT.format("cd", "continuous", "c", "d", "0 0 1", FOLLOWS)}
{JOINT.format("de", "fixed", "d", "e", "1 0 0", "")}
{JOINT.format("ef", "planar", "e", "f", "0 0 1", "")}
<frame name="tool" link="f" xyz=".1 0 .2" rpy="0 .5 0"/>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="ab"/><actuator name="motor">
<mechanicalReduction>30</mechanicalReduction></actuator>
<drake:rotor_inertia value="1e-4"/><drake:gear_ratio value="30"/>
</transmission>
<drake:collision_filter_group name="g"><drake:member link="a"/><drake:member link="c"/>
<drake:ignored_collision_filter_group name="g"/></drake:collision_filter_group>
<gazebo reference="b"><mu1>.7</mu1><kp>1e5</kp><gravity>false</gravity><sensor name="i" type="imu"><update_rate>50
</update_rate></sensor></gazebo></robot>"""
AXIS = """<axis><xyz>{0}</xyz><limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>4</velocity>
<stiffness>1e4</stiffness></limit><dynamics><damping>.3</damping><friction>.2</friction><spring_stiffness>5
</spring_stiffness><spring_reference>.1</spring_reference></dynamics></axis>"""
BODY = """<link name="{0}"><pose relative_to="{1}">.1 .2 .3 .3 .2 .1</pose><inertial><pose>.1 0 .05 .1 .1 0</pose>
<mass>{2}</mass><inertia><ixx>.3</ixx><iyy>.2</iyy><izz>.25</izz><ixy>.01</ixy></inertia></inertial>
<collision name="c"><pose>0 0 .1 0 0 0</pose><geometry>{3}</geometry>
<surface><friction><ode><mu>.6</mu><mu2>.3</mu2></ode></friction><bounce>
<restitution_coefficient>.4</restitution_coefficient></bounce></surface></collision>
<visual name="v"><geometry><capsule>
<radius>.05</radius><length>.2</length></capsule></geometry><material><diffuse>.5 .4 .3 1</diffuse></material></visual>
<sensor name="s{0}" type="{4}"><pose>0 0 .1 0 .2 0</pose><update_rate>100</update_rate></sensor></link>"""
SOLIDS = (
    "<box><size>.1 .2 .3</size></box>", "<sphere><radius>.1</radius></sphere>",
    "<ellipsoid><radii>.1 .2 .3</radii></ellipsoid>", "<cylinder><radius>.1</radius><length>.2</length></cylinder>",
    "<capsule><radius>.1</radius><length>.2</length></capsule>", "<plane><normal>0 0 1</normal></plane>",
)  # fmt: skip
SENSED = ("imu", "altimeter", "magnetometer", "imu", "air_pressure", "imu")
ALL_OF_SDF = f"""<sdf version="1.11"><world name="w"><gravity>.1 0 -9.7</gravity>
<wind><linear_velocity>1 2 0</linear_velocity></wind>
<model name="m" canonical_link="b" placement_frame="spot"><pose>1 2 3 .1 .2 .3</pose><frame name="spot"
attached_to="a"><pose>.1 0 0 0 0 .2</pose></frame>
{"".join(BODY.format("abcde"[k], "abcd"[k - 1], k + 1, SOLIDS[k], SENSED[k]) for k in range(1, 5))}
{BODY.format("a", "__model__", 2, SOLIDS[0], "imu")}
<joint name="ab" type="revolute"><parent>a</parent><child>b</child>{AXIS.format("0 1 1")}</joint>
<joint name="bc" type="prismatic"><parent>b</parent><child>c</child>{AXIS.format("1 0 0")}</joint>
<joint name="cd" type="universal"><parent>c</parent><child>d</child><axis><xyz>1 0 0</xyz></axis>
<axis2><xyz>0 1 0</xyz></axis2></joint>
<joint name="de" type="screw"><parent>d</parent><child>e</child><axis><xyz>0 0 1</xyz></axis><thread_pitch>.5
</thread_pitch></joint>
<model name="n"><pose relative_to="b">0 1 0 0 0 .5</pose><link name="x"/><link name="y"><pose>0 0 1 0 0 0</pose></link>
<joint name="xy" type="ball"><parent>x</parent><child>y</child></joint></model></model>
<joint name="tie" type="fixed"><parent>m::e</parent><child>m::n::x</child></joint></world></sdf>"""
COPIED = ("quadruped.urdf", "all_joints.sdf", "arm7.urdf", "cart_pole.sdf")
ARM = "arm7.urdf --weld-base --q .1,.2,.3,.4,.5,.6,.7 --v 1,2,3,4,5,6,7"
DOG = "quadruped.urdf --random 3"
ALL = "all_joints.sdf --random 5"
WORDS = {
    "check": ["all.xml", "all.urdf", "all.sdf", "quadruped.urdf all_joints.sdf --sarif", "all.xml --json"],
    "inspect": [
        "all.xml", "all.sdf", "all.urdf --json", "quadruped.urdf --geometry", "all_joints.sdf --tree dot",
        "quadruped.urdf --tree mermaid",
        "arm7.urdf --weld-base --self-contact all",
    ],
    "compare": [
        "quadruped.urdf m.urdf", "m.urdf m.sdf --json", "all_joints.sdf all.xml --json", "m.urdf m.sdf --shapes",
    ],
    "convert": [
        *(f"{model} --to {kind} --lossy" for model in ("all.xml", "all.urdf", "all.sdf", "quadruped.urdf")
          for kind in ("urdf", "sdf", "mjcf")),
        "arm7.urdf --to mjcf --actuators position --kp 50 --floor", "all.xml -o out.urdf --lossy --json",
        "quadruped.urdf --to mjcf --float-base --weld-base",
    ],
    "kinematics": [
        ALL, f"{DOG} --frame front_left_shank --relative-to trunk", f"{ARM} --vdot 1,2,3,4,5,6,7 --json",
        "arm7.urdf --weld-base --ik flange=.3,.2,.6", "m.urdf --states rows.csv --frame lower --format csv",
    ],
    "jacobian": [
        f"{ALL} --kind com", f"{DOG} --frame front_left_shank --wrt qdot",
        f"{ARM} --frame flange --kind angular --json",
        f"{DOG} --frame front_left_shank --kind translational --measured-in trunk --expressed-in front_right_thigh",
    ],
    "mass-matrix": [ALL, f"{ARM} --inverse", f"{ARM} --derivatives", f"{DOG} --via-inverse-dynamics --json"],
    "inverse-dynamics": [
        f"{ALL} --vdot zero --reactions", f"{ARM} --vdot 1,2,3,4,5,6,7 --no-gravity --no-damping",
        f"{ARM} --vdot zero --derivatives", f"{DOG} --vdot zero --force-on trunk=1,2,3,4,5,6 --json",
        "loop.urdf --vdot zero --relaxed",
    ],
    "forward-dynamics": [ALL, f"{ARM} --derivatives", f"{DOG} --json"],
    "assemble": ["loop.urdf --at beta=0.1 --json"],
    "constrained-dynamics": ["loop.urdf --v 1,1,1,1,1,1,1"],
    "bias": [ALL, f"{ARM} --json"],
    "gravity": [ALL, f"{DOG} --json", f"{ARM} --derivatives"],
    "symbolic": ["cart_pole.sdf --json"],
    "energy": [f"{ALL} --bodies", f"{DOG} --json", "all.xml --random 2"],
    "com": [f"{ALL} --bodies", f"{DOG} --json"],
    "momentum": [f"{ALL} --bodies", f"{DOG} --point com --json"],
    "spatial": ["shift --kind acceleration --vector 1,2,3,4,5,6 --offset 0,1,2 --angular-velocity 1,0,2 --json"],
    "contact": ["quadruped.urdf --ground -0.01 --json", "all.xml --distances --json",
                "quadruped.urdf --ground --single-point"],
    "linearize": ["arm7.urdf --weld-base --json", "cart_pole.sdf --discrete --json", "all_joints.sdf"],
    "sweep": [
        "m.urdf --vary state.elbow=uniform(0,1)"
        " --samples 2 --sampling latin-hypercube --seed 3 --measure max(elbow) -t 0.005 -j 1",
    ],
    "log show": ["run.h5 --fields derived/energy_kinetic", "run.h5 --time 0.02 --json"],
    "log export": ["run.h5 --to jsonl"],
    "log diff": ["run.h5 other.h5 --json"],
}  # fmt: skip


def models(folder):
    """Writes the larger models."""
    for name in COPIED:
        (folder / name).write_bytes((SAMPLES / name).read_bytes())
    (folder / "all.xml").write_text(ALL_OF_MJCF)
    (folder / "all.urdf").write_text(ALL_OF_URDF)
    (folder / "all.sdf").write_text(ALL_OF_SDF)
