"""What sensors give, by closed forms: a pendulum, a spinning plate, a payload that swings, a ball on a pad."""

import numpy as np
import pytest

from mbcli.errors import ArgumentError
from mbcli.math import RigidTransform, RotationMatrix
from mbcli.models.loading import ModelText, load_model
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.sensing.evaluation import SensorEvaluator, sensor_values
from mbcli.multibody.tree.sensor import Sensor, log_paths
from mbcli.simulation import simulate

G = 9.81
L, MASS, INERTIA = 0.8, 2.0, 0.05  # of a pendulum: to its centre of mass, about that

PENDULUM = f"""<sdf version="1.9"><world name="w"><magnetic_field>1e-5 0 -4e-5</magnetic_field>
<spherical_coordinates><latitude_deg>48</latitude_deg><longitude_deg>11</longitude_deg><elevation>500</elevation>
</spherical_coordinates><wind><linear_velocity>3 0 0</linear_velocity></wind><model name="m">
<link name="rod"><pose>0 0 {-L} 0 0 0</pose><inertial><mass>{MASS}</mass><inertia><ixx>{INERTIA}</ixx>
<iyy>{INERTIA}</iyy><izz>{INERTIA}</izz></inertia></inertial>%s</link>
<joint name="hinge" type="revolute"><parent>world</parent><child>rod</child><pose relative_to="__model__"/>
<axis><xyz>0 1 0</xyz></axis>%s</joint></model></world></sdf>"""


@pytest.fixture
def sensed(tmp_path):
    """The function (sensors in the link, in the joint, angle, speed, inputs of the loader) -> values by name."""

    def values(in_link="", in_joint="", angle=0.0, speed=0.0, **loading):
        path = tmp_path / "pendulum.sdf"
        path.write_text(PENDULUM % (in_link, in_joint))
        plant = load_model(path, **{"dt": 0.0, "contact": False} | loading).plant
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, [angle])
        plant.SetVelocities(context, [speed])
        return sensor_values(plant, context)

    return values


def angular_acceleration(angle):
    """Of the pendulum, whose rod hangs down at the angle 0; it turns about y, towards -x."""
    return -MASS * G * L * np.sin(angle) / (INERTIA + MASS * L * L)


@pytest.mark.parametrize(("angle", "speed"), [(0.0, 0.0), (0.7, 0.0), (-0.4, 3.0), (2.0, -1.5)])
def test_the_imu_of_a_pendulum(sensed, angle, speed):
    """Tangential and centripetal acceleration less gravity, along the axes of the rod; at rest +g along up."""
    imu = sensed('<sensor name="imu" type="imu"/>', angle=angle, speed=speed)["imu"]
    # the rod is along -z of its frame: x of it is where the end goes for -angle
    x = -L * angular_acceleration(angle) - G * np.sin(angle)
    z = L * speed**2 + G * np.cos(angle)
    expected = [np.cos(angle / 2), 0, np.sin(angle / 2), 0, 0, speed, 0, x, 0, z]
    np.testing.assert_allclose(imu, expected, atol=1e-12)


def test_an_imu_at_the_hinge_of_a_pendulum_at_rest_shows_g(sensed):
    imu = sensed(f'<sensor name="imu" type="imu"><pose>0 0 {L} 0 0 0</pose></sensor>')["imu"]
    np.testing.assert_allclose(imu, [1, 0, 0, 0, 0, 0, 0, 0, 0, G], atol=1e-12)


@pytest.mark.parametrize(
    ("localization", "R_WN"),
    [
        ("ENU", np.eye(3)),
        ("GRAV_UP", np.eye(3)),
        ("NED", np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])),
        ("NWU", np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])),
    ],
)
def test_orientations_are_relative_to_the_axes_that_the_file_names(sensed, localization, R_WN):
    tag = "orientation_reference_frame"
    reference = f"<{tag}><localization>{localization}</localization></{tag}>"
    text = f'<sensor name="imu" type="imu"><pose>0 0 0 0 0 0.4</pose><imu>{reference}</imu></sensor>'
    w, *xyz = sensed(text, angle=0.3)["imu"][:4]
    found = RotationMatrix(_matrix(w, xyz))
    R_WS = RotationMatrix.MakeYRotation(0.3).matrix() @ RotationMatrix.MakeZRotation(0.4).matrix()
    np.testing.assert_allclose(found.matrix(), R_WN.T @ R_WS, atol=1e-12)


def test_orientation_and_height_count_from_the_place_of_a_free_body_and_from_default_joint_positions():
    """A body that is free or whose joint has a default position shows 1 and 0 there, and how far it is from there."""
    body = (
        '<link name="{0}"><pose>0 0 {1} 0.3 -0.2 0.5</pose><inertial><mass>1</mass></inertial>'
        '<sensor name="imu_{0}" type="imu"/><sensor name="height_{0}" type="altimeter"/></link>'
    )
    joint = (
        '<joint name="hinge" type="revolute"><parent>world</parent><child>hung</child>'
        "<axis><xyz>0 1 0</xyz></axis></joint>"
    )
    links = body.format("free", 2.0) + body.format("hung", 3.0)
    text = f'<sdf version="1.11"><model name="m">{links}{joint}</model></sdf>'
    plant = load_model(ModelText(text, "m.sdf"), overrides=["joint.hinge.default_position=0.7"]).plant
    context = plant.CreateDefaultContext()
    values = sensor_values(plant, context)
    for name in ("free", "hung"):
        np.testing.assert_allclose(values[f"imu_{name}"][:4], [1, 0, 0, 0], atol=1e-12)
        np.testing.assert_allclose(values[f"height_{name}"], [0, 0], atol=1e-12)
    free, turn = plant.GetBodyByName("free"), RotationMatrix.MakeXRotation(0.4)
    X_WB = plant.GetFreeBodyPose(context, free)
    plant.SetFreeBodyPose(context, free, RigidTransform(X_WB.rotation() @ turn, X_WB.translation() + [0, 0, 0.25]))
    plant.GetJointByName("hinge").set_angle(context, 0.8)
    values = sensor_values(plant, context)
    np.testing.assert_allclose(values["imu_free"][:4], [np.cos(0.2), np.sin(0.2), 0, 0], atol=1e-12)
    np.testing.assert_allclose(values["height_free"][0], 0.25, atol=1e-12)
    np.testing.assert_allclose(values["imu_hung"][:4], [np.cos(0.05), 0, np.sin(0.05), 0], atol=1e-12)


def _matrix(w, xyz):
    x, y, z = xyz
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


@pytest.mark.parametrize("dt", [0.0, 1e-3])
@pytest.mark.parametrize(("frame", "direction"), [("child", "child_to_parent"), ("parent", "parent_to_child")])
def test_the_force_in_the_hinge_of_a_swinging_payload(sensed, dt, frame, direction):
    """It carries the weight and turns the velocity: m (a - g) at the centre of mass, no torque about a free hinge."""
    settings = f"<frame>{frame}</frame><measure_direction>{direction}</measure_direction>"
    text = f'<sensor name="ft" type="force_torque"><force_torque>{settings}</force_torque></sensor>'
    angle, speed = 0.9, 2.0
    values = sensed(in_joint=text, angle=angle, speed=speed, dt=dt)["ft"]
    angle += 0.5 * dt * speed  # a discrete plant takes forces in the middle of its step
    speed += 0.5 * dt * angular_acceleration(angle)
    x, z = -L * angular_acceleration(angle) - G * np.sin(angle), L * speed**2 + G * np.cos(angle)
    on_child = MASS * np.array([x, 0, z])
    if frame == "parent":
        on_child = RotationMatrix.MakeYRotation(angle).matrix() @ on_child
    sign = 1.0 if direction == "parent_to_child" else -1.0
    np.testing.assert_allclose(values[:3], sign * on_child, atol=1e-9)
    np.testing.assert_allclose(values[3:], 0.0, atol=1e-9)


@pytest.mark.parametrize("turn", [0.0, 0.7, np.pi / 2])
@pytest.mark.parametrize("frame", ["child", "parent"])
@pytest.mark.parametrize("file_type", ["sdf", "urdf"])
def test_a_force_torque_sensor_measures_along_the_axes_of_the_links(file_type, frame, turn):
    """Not along those of the joint, whose pose in them is turned about x; the child hangs at yaw 0.7 of the parent."""
    settings = f"<frame>{frame}</frame><measure_direction>parent_to_child</measure_direction>"
    sensor = f'<sensor name="s" type="force_torque"><force_torque>{settings}</force_torque></sensor>'
    if file_type == "sdf":
        text = f"""<sdf version="1.11"><model name="m"><link name="base"><pose>0 0 1 0.3 0 0</pose></link>
<joint name="w" type="fixed"><parent>world</parent><child>base</child></joint><link name="tool">
<pose>0 0 1 0 0 0.7</pose>
<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
<joint name="j" type="fixed"><pose>0 0 0 {turn} 0 0</pose><parent>base</parent><child>tool</child>{sensor}</joint>
</model></sdf>"""
        R_WParent, R_WChild = RotationMatrix.MakeXRotation(0.3).matrix(), RotationMatrix.MakeZRotation(0.7).matrix()
    else:
        inertia = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        text = f"""<robot name="r"><link name="world"/><link name="base">{inertia}</link><joint name="w" type="fixed">
<origin rpy="0.3 0 0"/><parent link="world"/><child link="base"/></joint><link name="tool">{inertia}</link>
<joint name="j" type="fixed"><origin rpy="{turn} 0 0"/><parent link="base"/><child link="tool"/></joint>
<gazebo reference="j"><preserveFixedJoint>true</preserveFixedJoint>{sensor}</gazebo></robot>"""
        R_WParent = RotationMatrix.MakeXRotation(0.3).matrix()
        R_WChild = R_WParent @ RotationMatrix.MakeXRotation(turn).matrix()
    plant = load_model(ModelText(text.encode(), f"m.{file_type}"), contact=False).plant
    values = sensor_values(plant, plant.CreateDefaultContext())["s"]
    R = R_WChild if frame == "child" else R_WParent
    np.testing.assert_allclose(values, [*(R.T @ [0, 0, 2 * G]), 0, 0, 0], atol=1e-12)


def test_the_torque_is_about_the_sensor_in_its_own_frame(sensed):
    text = '<sensor name="ft" type="force_torque"><pose>0.1 0 0 0 0 0</pose><force_torque><frame>sensor</frame>'
    text += "<measure_direction>parent_to_child</measure_direction></force_torque></sensor>"
    np.testing.assert_allclose(
        sensed(in_joint=text)["ft"], [0, 0, MASS * G, 0, 0.1 * MASS * G, 0], atol=1e-12
    )  # (0, 0, 0) - (0.1, 0, 0) crosses the force


def test_heights_pressures_fields_and_places(sensed):
    text = "".join(f'<sensor name="{t}" type="{t}"/>' for t in ("altimeter", "air_pressure", "air_speed", "navsat"))
    values = sensed(text + '<sensor name="mag" type="magnetometer"/>', angle=0.5, speed=2.0)
    height = L - L * np.cos(0.5)
    np.testing.assert_allclose(values["altimeter"], [height, L * 2.0 * np.sin(0.5)], atol=1e-12)
    z = -L * np.cos(0.5)
    np.testing.assert_allclose(values["air_pressure"], 101325 * (1 - 0.0065 * z / 288.15) ** 5.25588, rtol=1e-6)
    speed = -2.0 * L - 3.0 * np.cos(0.5)  # of the rod's end along its x, less the wind there
    density = values["air_pressure"][0] / (287.05287 * (288.15 - 0.0065 * z))
    np.testing.assert_allclose(values["air_speed"], [-0.5 * density * speed**2, 288.15 - 0.0065 * z], rtol=1e-9)
    B = np.array([1e-5, 0, -4e-5])
    R_WS = RotationMatrix.MakeYRotation(0.5).matrix()
    np.testing.assert_allclose(values["mag"], R_WS.T @ B, atol=1e-18)
    latitude, longitude, altitude, east, north, up = values["navsat"]
    assert abs(altitude - (500.0 + z)) < 1e-6
    # east by the radius of curvature across the meridian
    radius = 6378137.0 / np.sqrt(1 - 0.00669437999014 * np.sin(np.radians(48)) ** 2) + 500
    assert abs(np.radians(longitude - 11.0) * radius * np.cos(np.radians(48)) + L * np.sin(0.5)) < 1e-6
    assert abs(latitude - 48.0) < 1e-9
    np.testing.assert_allclose([east, north, up], [-2.0 * L * np.cos(0.5), 0, 2.0 * L * np.sin(0.5)], atol=1e-9)


PLATE = """<mujoco><option gravity="0 0 -9.81" magnetic="0 0.5 0"/><worldbody><body name="plate"><freejoint/>
<geom type="box" size="0.3 0.2 0.02" mass="2"/><site name="edge" pos="0.3 0 0"/></body></worldbody><sensor>
<accelerometer name="acc" site="edge" cutoff="12"/><gyro name="gyro" site="edge"/><velocimeter name="vel" site="edge"/>
<magnetometer name="mag" site="edge"/><framelinvel name="rel" objtype="site" objname="edge" reftype="xbody"
refname="plate"/><subtreeangmom name="spin" body="plate"/><clock name="now"/></sensor></mujoco>"""


def test_a_spinning_plate_that_falls(tmp_path):
    """It feels the centripetal acceleration alone, sees itself at rest, and has I w."""
    (tmp_path / "plate.xml").write_text(PLATE)
    plant = load_model(tmp_path / "plate.xml", dt=0.0, contact=False).plant
    context, plate = plant.CreateDefaultContext(), plant.GetBodyByName("plate")
    R, w = RotationMatrix.MakeZRotation(0.6), 5.0
    plant.SetFreeBodyPose(context, plate, RigidTransform(R, [1.0, 2.0, 3.0]))
    plant.SetFreeBodySpatialVelocity(plate, SpatialVelocity([0, 0, w], [0.1, 0, 0]), context)
    context.SetTime(1.5)
    values = sensor_values(plant, context)
    v_S = R.matrix().T @ [0.1, 0, 0] + [0, 0.3 * w, 0]
    np.testing.assert_allclose(values["acc"], [-0.3 * w * w, 0, 0], atol=1e-12)
    np.testing.assert_allclose(values["gyro"], [0, 0, w], atol=1e-12)
    np.testing.assert_allclose(values["vel"], v_S, atol=1e-12)
    np.testing.assert_allclose(values["mag"], R.matrix().T @ [0, 0.5, 0], atol=1e-12)
    np.testing.assert_allclose(values["rel"], 0.0, atol=1e-12)
    np.testing.assert_allclose(values["spin"], [0, 0, 2.0 / 3.0 * (0.3**2 + 0.2**2) * w], atol=1e-12)
    assert values["now"] == 1.5


BALL_ON_PAD = """<mujoco><worldbody><body name="pad" pos="0 0 0.05"><geom type="box" size="0.2 0.2 0.05"/>
<site name="zone" type="box" size="0.2 0.2 0.06"/><site name="beside" type="sphere" size="0.01" pos="0.15 0.15 0"/>
<site name="above" pos="0 0 0.5" zaxis="0 0 -1"/></body><body name="ball" pos="0 0 0.1999"><freejoint/>
<geom name="b" size="0.1" mass="3"/></body></worldbody><sensor><touch name="zone" site="zone"/>
<touch name="beside" site="beside"/><rangefinder name="range" site="above"/></sensor></mujoco>"""


def test_a_ball_on_a_touch_pad(tmp_path):
    """The pad feels its weight, once it rests, where the zone is; a ray from above meets its top."""
    (tmp_path / "pad.xml").write_text(BALL_ON_PAD)
    log = simulate(tmp_path / "pad.xml", 0.5)
    np.testing.assert_allclose(log.field("sensors/zone")[-10:], 3 * G, rtol=1e-3)
    assert not log.field("sensors/beside").any()
    top = log.column("ball_z") + 0.1
    np.testing.assert_allclose(log.field("sensors/range"), 0.55 - top, atol=1e-12)


def test_a_sensor_is_asked_for_by_its_name(tmp_path):
    (tmp_path / "plate.xml").write_text(PLATE)
    plant = load_model(tmp_path / "plate.xml", dt=0.0, contact=False).plant
    values = SensorEvaluator(plant, ["gyro", "sensors/now"]).values(plant.CreateDefaultContext())
    assert list(values) == ["gyro", "now"]
    with pytest.raises(ArgumentError, match="there is no sensor 'giro'; there are acc, gyro, vel"):
        SensorEvaluator(plant, ["giro"])


def test_datasets_of_sensors_of_one_name_have_the_names_of_what_they_are_on():
    class Body:
        def __init__(self, name):
            self._name = name

        def name(self):
            return self._name

    sensors = [Sensor(name, "gyro", "gyro", mount=(Body(body), None)) for name, body in (("imu", "a"), ("imu", "b"))]
    sensors += [Sensor("clock", "clock", "clock"), Sensor("3d-force", "force", "force", mount=(Body("a"), None))]
    sensors += [Sensor("imu", "gyro", "gyro", mount=(Body("b"), None))]
    instances = dict(zip(sensors, ("r", "r", "r", "r", "s"), strict=True))
    assert log_paths(sensors, instances.get) == [
        "sensors/a_imu",
        "sensors/r_b_imu",
        "sensors/clock",
        "sensors/_3d_force",
        "sensors/s_b_imu",
    ]
