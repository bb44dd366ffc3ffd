"""Small models that between them call the kernels which most robots call, so that a net compiles them once."""

GRIPPER = """<robot name="gripper"><link name="a">{body}<collision><geometry><box size=".1 .1 .1"/></geometry>
</collision></link>
<link name="b">{body}<collision><geometry><sphere radius=".1"/></geometry></collision></link>
<link name="c">{body}<collision><geometry><cylinder radius=".1" length=".1"/></geometry></collision></link>
<joint name="b" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>{limits}
</joint>
<joint name="c" type="revolute"><parent link="a"/><child link="c"/><origin xyz="2 0 0"/><axis xyz="0 1 0"/>{limits}
<mimic joint="b"/></joint></robot>""".format(
    body='<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>',
    limits='<limit lower="-.3" upper=".5" effort="9" velocity="9"/><dynamics damping=".1" friction=".1"/>',
)
_SPRUNG = """<mujoco><worldbody><body name="a"><freejoint/><geom size=".1"/>
<body name="b" pos="1 0 0"><joint name="b" type="hinge" axis="0 1 0" stiffness="1" damping=".1" range="-20 20"/>
<geom type="capsule" size=".1 .2"/><body name="c" pos="1 0 0"><joint type="ball"/><geom type="box" size=".1 .1 .1"/>
</body></body><body name="d" pos="2 0 0"><joint name="d" type="slide" stiffness="1"/><geom size=".1"/></body></body>
</worldbody><actuator><position joint="b" kp="10"/></actuator>{}</mujoco>"""
SPRUNG = _SPRUNG.format("")
LINKED = _SPRUNG.format('<equality><joint joint1="b" joint2="d"/></equality>')
TENDON = _SPRUNG.format(
    '<tendon><fixed limited="true" range="-.1 .1"><joint joint="b" coef="1"/>'
    '<joint joint="d" coef="1"/></fixed></tendon>'
)
SOFT = """<sdf version="1.7" xmlns:drake="drake"><model name="soft"><pose>0 0 .09 0 0 0</pose><link name="ball">
<inertial><mass>1</mass></inertial><collision name="ball"><geometry><sphere><radius>.1</radius></sphere></geometry>
<drake:proximity_properties><drake:compliant_hydroelastic/><drake:mesh_resolution_hint>.05</drake:mesh_resolution_hint>
<drake:hydroelastic_modulus>1e6</drake:hydroelastic_modulus></drake:proximity_properties></collision></link></model></sdf>
"""

FIRST = {"gripper.urdf": GRIPPER, "sprung.xml": SPRUNG, "linked.xml": LINKED, "tendon.xml": TENDON, "soft.sdf": SOFT}
