"""Plugins of Gazebo act in runs as their laws say: rotors, wheels, joints, wings, thrusters, damping in water."""

import numpy as np
import pytest
from command_line import cli, succeed

from mbcli.models import load_model
from mbcli.simulation import simulate

LINK = """<link name="{name}">{pose}<gravity>{gravity}</gravity><inertial><mass>{mass}</mass><inertia><ixx>{I}</ixx>
<iyy>{I}</iyy><izz>{I}</izz></inertia></inertial></link>"""


def link(name, mass=2.0, inertia=0.5, gravity="false", pose=""):
    return LINK.format(name=name, mass=mass, I=inertia, gravity=gravity, pose=pose and f"<pose>{pose}</pose>")


def joint(name, parent, child, axis="0 0 1", kind="revolute", more=""):
    return f"""<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>
<axis><xyz>{axis}</xyz>{more}</axis></joint>"""


def plugin(kind, **settings):
    parts = []
    for tag, values in settings.items():
        for value in values if isinstance(values, (list, tuple)) else (values,):
            parts.append(f"<{tag}>{value}</{tag}>")
    return f'<plugin filename="gz-sim-{kind}-system" name="gz::sim::systems::{kind}">{"".join(parts)}</plugin>'


@pytest.fixture
def model(tmp_path):
    def write(*parts, world="", name="m"):
        text = f'<model name="{name}">{"".join(parts)}</model>'
        text = f'<world name="w">{world}{text}</world>' if world else text
        path = tmp_path / f"{name}.sdf"
        path.write_text(f'<sdf version="1.10">{text}</sdf>')
        return str(path)

    return write


def run(path, until, inputs=None, **options):
    return simulate(path, until, **{"contact": False, "inputs": inputs, "warn": lambda line: None} | options)


# ------------------------------------------------------------------------------------------- rotors

ROTOR = {
    "jointName": "j",
    "turningDirection": "ccw",
    "linkName": "rotor",
    "timeConstantUp": 0.02,
    "timeConstantDown": 0.05,
    "motorConstant": 1e-5,
    "momentConstant": 0.02,
    "rotorDragCoefficient": 0.0,
    "rollingMomentCoefficient": 0.0,
    "rotorVelocitySlowdownSim": 10,
}


def rotor(model, axis="0 0 1", gravity="false", world="", **settings):
    own = (link("body", 2.0, 0.5, gravity), link("rotor", 1e-3, 1e-7, gravity), joint("j", "body", "rotor", axis))
    return model(*own, plugin("MulticopterMotorModel", **(ROTOR | settings)), world=world)


@pytest.mark.parametrize(("direction", "sign"), [("ccw", 1.0), ("cw", -1.0)])
def test_a_rotor_pushes_upwards_either_way_and_turns_its_body_against_it(model, direction, sign):
    path = rotor(model, turningDirection=direction, timeConstantUp=0.0)
    log = run(path, 0.5, {"j.speed": 600.0})
    thrust = 1e-5 * 600.0**2
    assert log.v[-1, 6] == pytest.approx(sign * 60.0)
    assert log.v[-1, 5] == pytest.approx(thrust / 2.001 * 0.5, rel=3e-3)  # it begins a step later
    assert log.v[-1, 2] == pytest.approx(-sign * 0.02 * thrust / 0.5 * 0.5, rel=3e-3)


def test_the_speed_of_a_rotor_comes_and_goes_with_its_time_constants(model, tmp_path):
    table = tmp_path / "speed.csv"
    table.write_text("time,j.speed\n0,500\n0.1,0\n")
    log = run(rotor(model), 0.2, str(table), log_rate=0)
    at = dict(zip(log.times.round(4), log.v[:, 6] * 10.0, strict=True))
    assert at[0.02] == pytest.approx(500.0 * (1.0 - np.exp(-1.0)), rel=1e-6)
    top = 500.0 * (1.0 - np.exp(-5.0))
    assert at[0.1] == pytest.approx(top, rel=1e-6) and at[0.15] == pytest.approx(top * np.exp(-1.0), rel=1e-6)


def test_a_rotor_turns_no_faster_than_it_may(model):
    log = run(rotor(model, maxRotVelocity=300), 0.5, {"j.speed": 600.0})
    assert log.v[-1, 6] == pytest.approx(30.0)


def test_the_wind_drags_a_rotor_and_rolls_its_body(model):
    wind = "<wind><linear_velocity>4 0 2</linear_velocity></wind>"
    settings = {"rotorDragCoefficient": 1e-4, "rollingMomentCoefficient": 1e-6, "timeConstantUp": 0.0}
    log = run(rotor(model, world=wind, **settings), 0.02, {"j.speed": 600.0}, log_rate=0)
    steps = len(log.times) - 2  # the first step begins without speed
    assert log.v[-1, 3] == pytest.approx(600.0 * 1e-4 * 4.0 / 2.001 * steps * 1e-3, rel=2e-3)
    assert log.v[-1, 0] == pytest.approx(600.0 * 1e-6 * 4.0 / 0.5 * steps * 1e-3, rel=2e-3)


def test_a_rotor_of_older_files_is_known_by_the_name_of_its_library(model):
    text = plugin("MulticopterMotorModel", **ROTOR).replace("gz::sim::systems::MulticopterMotorModel", "front")
    text = text.replace("gz-sim-MulticopterMotorModel-system", "librotors_gazebo_motor_model.so")
    path = model(link("body"), link("rotor", 1e-3, 1e-7), joint("j", "body", "rotor"), text)
    assert run(path, 0.5, {"j.speed": 600.0}).v[-1, 5] > 0.8


# ------------------------------------------------------------------------------------------- joints


def arm(model, *plugins, kind="revolute", more="", pose="", gravity="false"):
    own = link("arm", 2.0, 0.5, gravity=gravity, pose=pose), joint("j", "world", "arm", "0 1 0", kind, more)
    return model(*own, *plugins)


def test_a_joint_controller_drives_at_a_velocity_under_a_load(model):
    text = link("arm", 2.0, 0.5, "true", "0.3 0 0 0 0 0").replace("<inertial>", "<inertial><pose>0.5 0 0 0 0 0</pose>")
    drive = plugin("JointController", joint_name="j", initial_velocity=0.2)
    path = model(text, joint("j", "world", "arm", "0 1 0"), drive)
    assert run(path, 0.5).v[-1, 0] == pytest.approx(0.2, rel=1e-5)
    assert run(path, 0.5, {"m::j.velocity": -1.0}).v[-1, 0] == pytest.approx(-1.0, rel=1e-5)


def test_a_drive_ends_at_the_effort_limit_of_its_joint(model):
    path = arm(model, plugin("JointController", joint_name="j"), more="<limit><effort>0.5</effort></limit>")
    assert run(path, 0.5, {"j.velocity": 10.0}).v[-1, 0] == pytest.approx(0.5 / 0.5 * 0.5, rel=1e-6)


def test_a_joint_controller_of_forces_is_a_proportional_law(model):
    path = arm(model, plugin("JointController", joint_name="j", use_force_commands="true", p_gain=2.0))
    assert run(path, 0.3, {"j.velocity": 3.0}).v[-1, 0] == pytest.approx(3.0 * (1 - np.exp(-2.0 / 0.5 * 0.3)), rel=5e-3)


def test_a_position_controller_is_a_pid_law_with_its_bounds(model):
    path = arm(model, plugin("JointPositionController", joint_name="j", p_gain=50, i_gain=0, d_gain=10))
    log = run(path, 3.0, {"j.position": 0.7})
    assert log.q[-1, 0] == pytest.approx(0.7, abs=1e-6)
    w, damping = np.sqrt(50 / 0.5), 10 / (2 * np.sqrt(50 * 0.5))
    assert damping == pytest.approx(1.0)  # critical
    k = int(np.searchsorted(log.times, 0.1 - 1e-9))
    assert log.q[k, 0] == pytest.approx(0.7 * (1 - (1 + w * 0.1) * np.exp(-w * 0.1)), rel=0.03)
    bounded = arm(model, plugin("JointPositionController", joint_name="j", p_gain=1e4, cmd_max=1, i_gain=0, d_gain=0))
    assert run(bounded, 0.2, {"j.position": 1.0}).v[-1, 0] == pytest.approx(1.0 / 0.5 * 0.2, rel=1e-6)


def test_the_integral_of_a_position_controller_carries_a_load(model):
    heavy = link("arm", 2.0, 0.5, "true").replace("<inertial>", "<inertial><pose>0.5 0 0 0 0 0</pose>")
    gains = {"p_gain": 60, "i_gain": 40, "d_gain": 20, "i_max": 20, "i_min": -20}
    path = model(heavy, joint("j", "world", "arm", "0 1 0"), plugin("JointPositionController", joint_name="j", **gains))
    assert run(path, 20.0).q[-1, 0] == pytest.approx(0.0, abs=2e-4)
    path = model(
        heavy, joint("j", "world", "arm", "0 1 0"), plugin("JointPositionController", joint_name="j", p_gain=60)
    )
    assert abs(run(path, 5.0).q[-1, 0]) > 0.05  # i_max is 1 there


def test_velocity_commands_move_a_joint_to_its_position_at_a_bounded_speed(model):
    bounds = {"cmd_max": 2, "cmd_min": -2, "use_velocity_commands": "true"}
    path = arm(model, plugin("JointPositionController", joint_name="j", **bounds))
    log = run(path, 0.5, {"j.position": 0.5})
    assert log.q[20, 0] == pytest.approx(0.4, abs=3e-3) and log.q[-1, 0] == pytest.approx(0.5, abs=1e-5)


def two_joints(model, **gains):
    parts = [link("a", 2.0, 0.5, pose="0 0 0 0 0 0"), link("b", 2.0, 0.5, pose="5 0 0 0 0 0")]
    parts += [joint("j", "world", "a", "0 1 0"), joint("k", "world", "b", "1 0 0", "prismatic")]
    return model(*parts, plugin("JointTrajectoryController", **gains))


def test_a_trajectory_controller_holds_each_joint_by_gains_of_its_own(model, tmp_path):
    path = two_joints(
        model, joint_name=["k", "j"], position_p_gain=[200, 50], position_d_gain=[40, 10], initial_position=[0.3]
    )
    table = tmp_path / "points.csv"
    table.write_text("time,k.position,j.position\n0.5,-0.2,0.7\n1.5,0.1,0.7\n")
    log = run(path, 3.0, str(table), log_rate=0)
    j, k = log.q[:, 0], log.q[:, 1]

    def step(w, t):
        return 1 - (1 + w * t) * np.exp(-w * t)  # critically damped

    at = {round(t, 4): n for n, t in enumerate(log.times)}
    assert k[at[0.2]] == pytest.approx(0.3 * step(10.0, 0.2), rel=0.03)
    assert j[at[0.5]] == 0.0 and j[at[0.6]] == pytest.approx(0.7 * step(10.0, 0.1), rel=0.03)
    assert k[at[1.5]] == pytest.approx(-0.2, abs=1e-3) and k[-1] == pytest.approx(0.1, abs=1e-4)
    assert j[-1] == pytest.approx(0.7, abs=1e-6)


def test_velocities_and_efforts_of_a_trajectory_add_up_without_limits(model):
    path = two_joints(model, velocity_p_gain=[2.0], velocity_cmd_offset=[0.0, 3.0])  # of j, then of k
    log = run(path, 0.3, {"j.velocity": 4.0, "j.effort": 1.0})
    assert log.v[-1, 0] == pytest.approx((4.0 + 1.0 / 2.0) * (1 - np.exp(-2.0 / 0.5 * 0.3)), rel=5e-3)
    assert log.v[-1, 1] == pytest.approx(3.0 / 2.0 * 0.3, rel=1e-6)
    bounded = two_joints(model, velocity_p_gain=1e4, velocity_cmd_max=1.5, velocity_cmd_min=-1.5)
    assert run(bounded, 0.2, {"j.velocity": 5.0}).v[-1, 0] == pytest.approx(1.5 / 0.5 * 0.2, rel=1e-6)


@pytest.mark.parametrize("dt", [1e-3, 0.0])
def test_a_force_on_a_joint_is_its_effort(model, dt):
    path = arm(model, plugin("ApplyJointForce", joint_name="j"), kind="prismatic")
    assert run(path, 0.5, {"j.force": 3.0}, dt=dt).v[-1, 0] == pytest.approx(3.0 / 2.0 * 0.5, rel=1e-6)


def test_a_joint_without_effort_gets_an_actuator_by_its_plugin(model):
    path = arm(model, plugin("ApplyJointForce", joint_name="j"), more="<limit><effort>0</effort></limit>")
    assert run(path, 0.5, {"j.force": 3.0}).v[-1, 0] == pytest.approx(3.0, rel=1e-6)


def test_drives_are_refused_where_steps_take_none(model):
    path = arm(model, plugin("JointController", joint_name="j"))
    ended = cli("simulate", path, "--no-contact", "--no-log", "--dt", 0)
    assert ended.code == 2 and "plugins of the file drive joints at velocities" in ended.err


# ------------------------------------------------------------------------------------------- cars

BASE, TRACK, RADIUS = 0.6, 0.5, 0.1


def car(model, **settings):
    parts = [link("chassis", 10.0, 0.5, "true", f"{BASE / 2} 0 {RADIUS} 0 0 0")]
    ball = f"<collision name='c'><geometry><sphere><radius>{RADIUS}</radius></sphere></geometry></collision></link>"
    for side, y in (("left", TRACK / 2), ("right", -TRACK / 2)):
        for end, x in (("rear", 0.0), ("front", BASE)):
            at = f"{x} {y} {RADIUS} 0 0 0"
            parts.append(link(f"{side}_{end}", 0.5, 2e-3, "true", at).replace("</link>", ball))
            carrier = "chassis"
            if end == "front":
                carrier = f"{side}_pin"
                parts.append(link(carrier, 0.2, 1e-3, "true", at))
                parts.append(joint(f"{side}_steer", "chassis", carrier, "0 0 1"))
            parts.append(joint(f"{side}_{end}_wheel", carrier, f"{side}_{end}", "0 1 0", "continuous"))
    own = {"wheel_base": BASE, "wheel_separation": TRACK, "kingpin_width": TRACK, "wheel_radius": RADIUS}
    own |= {f"{side}_steering_joint": f"{side}_steer" for side in ("left", "right")} | {"steer_p_gain": 10}
    own |= {f"{side}_joint": f"{side}_rear_wheel" for side in ("left", "right")}
    ground = "<model name='g'><static>1</static><link name='l'><collision name='c'><geometry><plane><normal>0 0 1"
    ground += "</normal></plane></geometry></collision></link></model>"
    return model(*parts, plugin("AckermannSteering", **(own | settings)), world=ground, name="car")


def circle(log, after):
    """(radius signed as the turn, turning rate, speed) of the middle of the rear axle, which the chassis moves."""
    keep = log.times >= after
    w, x, y, z = log.q[keep, :4].T
    yaw = np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    axle = log.q[keep, 4:6] - 0.5 * BASE * np.column_stack([np.cos(yaw), np.sin(yaw)])
    turning = np.polyfit(log.times[keep], yaw, 1)[0]
    speed = np.linalg.norm(np.diff(axle, axis=0), axis=1).mean() / np.diff(log.times[keep]).mean()
    rows = np.column_stack([2 * axle, np.ones(len(axle))])
    a, b, c = np.linalg.lstsq(rows, np.square(axle).sum(axis=1), rcond=None)[0]
    return np.sqrt(c + a * a + b * b), turning, speed


@pytest.mark.parametrize(("v", "w"), [(1.0, 0.5), (0.8, -0.6), (-0.6, 0.3)])
def test_a_car_drives_a_circle_of_its_velocity_over_its_turning_rate(model, v, w):
    log = run(car(model, steering_limit=0.6), 5.0, {"car.linear_x": v, "car.angular_z": w}, contact=True)
    radius, turning, speed = circle(log, 1.5)
    assert radius == pytest.approx(abs(v / w), rel=0.02)
    assert turning == pytest.approx(w, rel=0.02) and speed == pytest.approx(abs(v), rel=0.02)


def test_a_car_turns_no_tighter_than_its_steering_limit_lets_it(model):
    log = run(car(model, steering_limit=0.3), 5.0, {"car.linear_x": 1.0, "car.angular_z": 2.0}, contact=True)
    assert circle(log, 1.5)[0] == pytest.approx(BASE / np.sin(0.3), rel=0.02)


def test_steering_joints_go_to_the_angles_of_ackermann(model):
    def angles(commands, time=2.0, **settings):
        path = car(model, **settings)
        log = run(path, time, commands, contact=True)
        names = load_model(path).plant.GetPositionNames()
        return [
            log.q[-1, next(k for k, name in enumerate(names) if f"{side}_steer" in name)] for side in ("left", "right")
        ]

    R = 2.0
    expected = [np.arctan(BASE / (R - TRACK / 2)), np.arctan(BASE / (R + TRACK / 2))]
    np.testing.assert_allclose(angles({"car.linear_x": 0.4, "car.angular_z": 0.2}), expected, rtol=1e-3)
    # proportional: a time constant of 1 / gain
    part = angles({"car.linear_x": 0.4, "car.angular_z": 0.2}, 0.5, steer_p_gain=2)
    np.testing.assert_allclose(part, np.array(expected) * (1 - np.exp(-1.0)), rtol=5e-3)
    alone = {"steering_only": "true", "left_joint": [], "right_joint": []}
    R = BASE / np.tan(0.25)
    expected = [np.arctan(BASE / (R - TRACK / 2)), np.arctan(BASE / (R + TRACK / 2))]
    np.testing.assert_allclose(angles({"car.steering_angle": 0.25}, **alone), expected, rtol=1e-3)


def test_a_car_speeds_up_within_its_limits(model):
    path = car(model, max_acceleration=0.5, max_velocity=0.4)
    log = run(path, 1.5, {"car.linear_x": 1.0}, contact=True)
    k = int(np.searchsorted(log.times, 0.6 - 1e-9))
    assert log.v[k, 3] == pytest.approx(0.3, rel=0.02) and log.v[-1, 3] == pytest.approx(0.4, rel=0.02)


# ------------------------------------------------------------------------------------ air and water


def test_a_wing_has_lift_and_drag_by_its_angle_of_attack(model):
    alpha, speed = 0.1, 20.0
    wing = plugin("LiftDrag", link_name="wing", cla=4.0, cda=0.5, area=0.3, air_density=1.2, alpha_stall=0.3)
    path = model(link("wing", 1e6, 1e6), joint("x", "world", "wing", "1 0 0", "prismatic"), wing)
    assert path
    free = model(link("wing", 1e6, 1e6), wing)
    start = {"wing_vx": speed * np.cos(alpha), "wing_vz": -speed * np.sin(alpha)}
    log = run(free, 0.001, start=start, log_rate=0)
    force = 1e6 * (log.v[1] - log.v[0])[3:] / 1e-3
    pressed = 0.5 * 1.2 * speed**2 * 0.3
    lift, drag = pressed * 4.0 * alpha, pressed * 0.5 * alpha
    along, up = np.array([np.cos(alpha), 0, -np.sin(alpha)]), np.array([np.sin(alpha), 0, np.cos(alpha)])
    np.testing.assert_allclose(force, lift * up - drag * along, rtol=1e-4, atol=1e-2)


def test_lift_ends_beyond_the_stall_and_acts_at_the_centre_of_pressure(model):
    wing = plugin(
        "LiftDrag", link_name="wing", cla=4.0, cda=0.0, cda_stall=0.0, alpha_stall=0.1, cla_stall=-3.0, cp="-0.5 0 0"
    )
    log = run(
        model(link("wing", 1e6, 1e6), wing), 0.001, log_rate=0, start={"wing_vx": 10.0, "wing_vz": -10 * np.tan(0.2)}
    )
    V = log.v[1] - log.v[0]
    speed = 10.0 / np.cos(0.2)
    lift = 0.5 * 1.2041 * speed**2 * (4.0 * 0.1 - 3.0 * 0.1)
    assert V[5] * 1e9 == pytest.approx(lift * np.cos(0.2), rel=1e-4)
    assert V[1] * 1e9 == pytest.approx(0.5 * lift * np.cos(0.2), rel=1e-4)


def test_a_thruster_pushes_by_its_propeller(model):
    screw = plugin("Thruster", joint_name="j", thrust_coefficient=0.2, propeller_diameter=0.1, max_thrust_cmd=50)
    path = model(link("hull", 4.0), link("propeller", 1e-3, 1e-6), joint("j", "hull", "propeller", "1 0 0"), screw)
    log = run(path, 0.5, {"j.thrust": 80.0})
    assert log.v[-1, 3] == pytest.approx(50.0 / 4.001 * 0.5, rel=1e-3)
    assert log.v[-1, 6] == pytest.approx(np.sqrt(50.0 / (0.2 * 1000.0 * 0.1**4)), rel=1e-3)
    assert run(path, 0.5, {"j.thrust": -20.0}).v[-1, 3] == pytest.approx(-20.0 / 4.001 * 0.5, rel=1e-3)


@pytest.mark.parametrize("dt", [1e-3, 0.0])
def test_water_damps_motion_through_it(model, dt):
    water = plugin("Hydrodynamics", link_name="hull", xU=-4.0, nR=-0.5, default_current="1 0 0")
    log = run(model(link("hull", 2.0, 0.5), water), 1.0, start={"hull_vx": 3.0}, dt=dt)
    assert log.v[-1, 3] == pytest.approx(1.0 + 2.0 * np.exp(-4.0 / 2.0), rel=3e-3)
    log = run(model(link("hull", 2.0, 0.5), water), 1.0, start={"hull_wz": 2.0}, dt=dt)
    assert log.v[-1, 2] == pytest.approx(2.0 * np.exp(-1.0), rel=3e-3)
    square = plugin("Hydrodynamics", link_name="hull", yVabsV=-4.0)
    log = run(model(link("hull", 2.0, 0.5), square), 1.0, start={"hull_vy": 3.0}, dt=dt)
    assert log.v[-1, 4] == pytest.approx(3.0 / (1.0 + 3.0 * 4.0 / 2.0), rel=5e-3)


# ------------------------------------------------------------------------------- plugins of a world

WIND = "<wind><linear_velocity>3 4 -2</linear_velocity></wind>"


def windy(name, feels="<enable_wind>true</enable_wind>", mass=0.1):
    return link(name, mass, 0.01).replace("<gravity>", f"{feels}<gravity>")


def gale(rise=1e-9, sin="", factor=4.0, direction=""):
    return (
        f'<plugin filename="f" name="gz::sim::systems::WindEffects"><horizontal><magnitude><time_for_rise>{rise}'
        f"</time_for_rise>{sin}</magnitude>{direction}</horizontal><vertical><time_for_rise>{rise}</time_for_rise>"
        f"</vertical><force_approximation_scaling_factor>{factor}</force_approximation_scaling_factor></plugin>"
    )


@pytest.mark.parametrize("dt", [1e-3, 0.0])
def test_wind_carries_a_link_with_the_time_constant_of_its_factor(model, dt):
    path = model(windy("a"), link("b", pose="5 0 0 0 0 0"), world=WIND + gale())
    log = run(path, 0.5, dt=dt)
    expected = np.array([3.0, 4.0, -2.0]) * (1.0 - np.exp(-4.0 * 0.5))
    np.testing.assert_allclose(log.v[-1, 3:6], expected, rtol=2e-3)
    assert not log.v[-1, 6:].any()  # <enable_wind> of b is false


def test_wind_rises_and_gusts_and_veers(model):
    log = run(model(windy("a"), world=WIND + gale(rise=0.3)), 1.0, log_rate=0)
    k, T, t = 4.0, 0.3, 1.0  # v' = k (w (1 - exp(-t/T)) - v)
    share = 1.0 - np.exp(-k * t) - k / (k - 1 / T) * (np.exp(-t / T) - np.exp(-k * t))
    np.testing.assert_allclose(log.v[-1, 3:6], np.array([3.0, 4.0, -2.0]) * share, rtol=5e-3)
    gust = "<sin><amplitude_percent>0.5</amplitude_percent><period>2</period></sin>"
    veer = "<direction><sin><amplitude>30</amplitude><period>2</period></sin></direction>"
    t, wind = log.times, np.hypot(3.0, 4.0)
    v = run(model(windy("a"), world=WIND + gale(sin=gust)), 1.0, log_rate=0).v[:, 3:5]
    accelerations = np.gradient(v, t, axis=0)
    blown = accelerations / 4.0 + v
    k = 500  # the sine is 1 there
    np.testing.assert_allclose(blown[k], 1.5 * np.array([3.0, 4.0]), rtol=3e-3)
    v = run(model(windy("a"), world=WIND + gale(direction=veer)), 1.0, log_rate=0).v[:, 3:5]
    blown = np.gradient(v, t, axis=0) / 4.0 + v
    angle = np.arctan2(4.0, 3.0) + np.radians(30.0)
    np.testing.assert_allclose(blown[k], wind * np.array([np.cos(angle), np.sin(angle)]), rtol=3e-3)


def test_wind_blows_on_models_as_the_file_says(model):
    feels, not_this = "<enable_wind>true</enable_wind>", "<enable_wind>false</enable_wind>"
    inner = f'<model name="in">{windy("c", "")}</model>'
    path = model(feels, windy("a", ""), windy("b", not_this), inner, world=WIND + gale())
    moved = run(path, 0.1).v[-1].reshape(-1, 6)[:, 3]
    assert sorted(moved > 0.5) == [False, True, True]


def shaped(name, shape, mass, pose="", at="", inertia=0.5):
    own = link(name, mass, inertia, "true", pose)
    place = at and f"<pose>{at}</pose>"
    return own.replace("</link>", f"<collision name='c'>{place}<geometry>{shape}</geometry></collision></link>")


def fluid(inside):
    return f'<gravity>0 0 -9.8</gravity><plugin filename="f" name="gz::sim::systems::Buoyancy">{inside}</plugin>'


SEA = fluid(
    "<graded_buoyancy><default_density>1000</default_density><density_change><above_depth>0</above_depth>"
    "<density>1</density></density_change></graded_buoyancy>"
)
BOX = "<box><size>2 1 0.5</size></box>"


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (BOX, 1.0),
        ("<sphere><radius>0.5</radius></sphere>", 4 / 3 * np.pi * 0.125),
        ("<cylinder><radius>0.5</radius><length>2</length></cylinder>", np.pi * 0.5),
        ("<capsule><radius>0.5</radius><length>2</length></capsule>", np.pi * (0.5 + 4 / 3 * 0.125)),
        ("<ellipsoid><radii>1 0.5 0.2</radii></ellipsoid>", 4 / 3 * np.pi * 0.1),
        ("<cone><radius>0.5</radius><length>2</length></cone>", np.pi / 3 * 0.5),
    ],
)
@pytest.mark.parametrize("water", ["<uniform_fluid_density>900</uniform_fluid_density>", ""])
def test_a_fluid_carries_what_displaces_it(model, shape, volume, water):
    path = model(shaped("a", shape, 2000.0, "0 0 0 0.3 0.4 0"), world=fluid(water))
    density = 900.0 if water else 1000.0
    assert run(path, 0.1).v[-1, 5] == pytest.approx(9.8 * (density * volume / 2000.0 - 1.0) * 0.1, rel=1e-9)


def test_it_carries_at_the_centre_of_the_volume(model):
    path = model(shaped("a", BOX, 1000.0, at="0.3 0 0 0 0 0"), world=fluid(""))
    log = run(path, 0.001, log_rate=0)
    assert log.v[-1, 1] == pytest.approx(-0.3 * 1000.0 * 9.8 / 0.5 * 1e-3, rel=1e-9)


def test_a_box_floats_at_its_draught_and_bobs_with_its_frequency(model):
    slide = joint("z", "world", "a", "0 0 1", "prismatic")
    path = model(shaped("a", BOX, 600.0), slide, world=SEA)  # it displaces 600 kg of sea and air
    draught = (600.0 - 2.0 * 0.5) / (999.0 * 2.0)
    equilibrium = 0.25 - draught
    assert run(path, 1.0, start={"z": equilibrium}).q[-1, 0] == pytest.approx(equilibrium, abs=1e-12)
    w = np.sqrt(999.0 * 9.8 * 2.0 / 600.0)
    log = run(path, 1.0, start={"z": equilibrium + 0.05})
    np.testing.assert_allclose(log.q[:, 0] - equilibrium, 0.05 * np.cos(w * log.times), atol=5e-4)


def test_a_heeled_box_rights_itself_as_one_with_walls_does(model):
    heel, breadth, draught = 0.2, 1.0, 0.25
    path = model(shaped("a", BOX, 500.0, f"0 0 0 {heel} 0 0"), world=SEA.replace("<density>1<", "<density>0<"))
    log = run(path, 0.001, log_rate=0)
    radius = breadth**2 / 12.0 / draught  # from the centre of buoyancy to the metacentre
    metacentric = radius - 0.5 * draught  # the centre of mass is at the water line
    lever = np.sin(heel) * (metacentric + 0.5 * radius * np.tan(heel) ** 2)
    assert log.v[-1, 0] == pytest.approx(-500.0 * 9.8 * lever / 0.5 * 1e-3, rel=1e-6)
    assert abs(log.v[-1, 5]) < 1e-9


def test_fluids_act_in_layers_and_on_the_links_that_are_named(model):
    ball = "<sphere><radius>0.5</radius></sphere>"
    layers = "".join(
        f"<density_change><above_depth>{z}</above_depth><density>{rho}</density></density_change>"
        for z, rho in ((0.0, 500.0), (-1.0, 800.0))
    )
    world = fluid(
        f"<graded_buoyancy><default_density>1000</default_density>{layers}</graded_buoyancy><enable>m::a</enable>"
    )
    volume = 4 / 3 * np.pi * 0.125
    for z, density in ((-5.0, 1000.0), (-1.0, 900.0), (-0.5, 800.0), (0.0, 650.0), (3.0, 500.0)):
        path = model(shaped("a", ball, 100.0, f"0 0 {z} 0 0 0"), shaped("b", ball, 100.0, "5 0 0 0 0 0"), world=world)
        v = run(path, 0.001, log_rate=0).v[-1]
        assert v[5] == pytest.approx(9.8e-3 * (density * volume / 100.0 - 1.0), rel=1e-9)
        assert v[11] == pytest.approx(-9.8e-3)


# ------------------------------------------------------------------------------------- in a run


def test_controllers_ask_plugins_by_name_and_keep_efforts_of_their_own(model):
    path = arm(model, plugin("JointController", joint_name="j"))
    calls = []

    def controller(time):
        calls.append(time)
        return {"j.velocity": 2.0 if time < 0.25 else -1.0}

    controller.rate = 100.0
    log = run(path, 0.5, controller=controller)
    np.testing.assert_allclose(np.diff(calls), 0.01)
    assert log.v[20, 0] == pytest.approx(2.0, rel=1e-5) and log.v[-1, 0] == pytest.approx(-1.0)
    with pytest.raises(Exception, match="returned what the model does not have"):
        run(path, 0.5, controller=lambda: {"j.speed": 2.0})


def test_a_run_with_plugins_goes_on_to_the_same_rows(model, tmp_path):
    path = rotor(model)
    words = ("simulate", path, "--no-contact", "--u", "j.speed=500")
    succeed(*words, "-t", 0.1, "-o", tmp_path / "whole.h5")
    succeed(*words, "-t", 0.04, "-o", tmp_path / "part.h5")
    succeed(*words, "-t", 0.1, "--resume", tmp_path / "part.h5")
    assert succeed("log", "diff", tmp_path / "whole.h5", tmp_path / "part.h5").code == 0


def test_pushes_and_plugins_add_up(model):
    log = run(rotor(model, timeConstantUp=0.0), 0.5, {"j.speed": 600.0}, pushes="body=1,0,0")
    assert log.v[-1, 3] == pytest.approx(1.0 / 2.001 * 0.5, rel=1e-2) and log.v[-1, 5] > 0.85


def test_what_is_asked_is_told_and_names_that_mean_none_are_refused(model):
    ended = succeed("simulate", rotor(model), "--no-contact", "--no-log", "-t", 0.01)
    assert "--u or --input takes j.speed [rad/s]" in ended.err and "plugins act: MulticopterMotorModel" in ended.err
    ended = cli("simulate", rotor(model), "--no-contact", "--no-log", "-t", 0.01, "--u", "k.speed=1")
    assert ended.code == 2 and "k.speed" in ended.err


def test_held_joints_are_not_driven_by_plugins(model):
    path = arm(model, plugin("JointController", joint_name="j", initial_velocity=1.0))
    ended = succeed("simulate", path, "--no-contact", "--no-log", "-t", 0.1, "--hold", "--json")
    assert abs(ended.json()["v"][0]) < 1e-6 and "plugins of the file do not drive them" in ended.err
