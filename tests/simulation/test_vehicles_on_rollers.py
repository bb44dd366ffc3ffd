"""Mecanum, omni and skid steered vehicles, with friction along a direction of the chassis: closed forms."""

import numpy as np
import pytest

from mbcli.simulation import simulate

R, LOW = 0.1, 0.02  # [m] radius of wheels; the chassis above their axles
A, B = 0.3, 0.25  # [m] from the middle to the axles, and to the wheels' tracks
S = np.sqrt(0.5)
CORNERS = {"fl": (A, B), "fr": (A, -B), "rl": (-A, B), "rr": (-A, -B)}


def inertial(mass, moment):
    moments = "".join(f"<{name}>{moment}</{name}>" for name in ("ixx", "iyy", "izz"))
    return f"<inertial><mass>{mass}</mass><inertia>{moments}</inertia></inertial>"


def vehicle(path, wheels, across=0.0, frame="chassis"):
    """A file; wheels: {name: ((x, y), the way in which it rolls, the direction of friction)}, in the chassis."""
    parts = []
    for name, ((x, y), way, direction) in wheels.items():
        axle = f"{-way[1]} {way[0]} 0"
        friction = (
            f'<mu>1</mu><mu2>{across}</mu2><fdir1 gz:expressed_in="{frame}">{direction[0]} {direction[1]} 0</fdir1>'
        )
        parts.append(
            f'<link name="{name}"><pose>{x} {y} 0 0 0 0</pose>{inertial(0.5, 0.0025)}<collision name="c"><geometry>'
            f"<sphere><radius>{R}</radius></sphere></geometry><surface><friction><ode>{friction}</ode></friction>"
            f'</surface></collision></link><joint name="{name}_turns" type="revolute"><parent>chassis</parent><child>'
            f"{name}</child><axis><xyz>{axle}</xyz></axis></joint>"
        )
    path.write_text(
        '<sdf version="1.9" xmlns:gz="http://gazebosim.org/schema"><world name="w"><model name="ground"><static>true'
        '</static><link name="l"><collision name="c"><geometry><plane/></geometry></collision></link></model>'
        f'<model name="v"><pose>0 0 {R} 0 0 0</pose><link name="chassis"><pose>0 0 {-LOW} 0 0 0</pose>'
        f"{inertial(10, 0.3)}</link>{''.join(parts)}</model></world></sdf>"
    )
    return path


def speeds_of(path, rates):
    """(v_x, v_y, w_z) in the chassis that drives with these rates of its wheels [rad/s], after a second."""
    drive = {f"{name}_turns": rate for name, rate in rates.items()}
    log = simulate(path, 1.5, drive=drive, warn=lambda line: None)
    v, q = log.field("state/v")[-20:], log.field("state/q")[-20:]
    yaw = 2.0 * np.arctan2(q[:, 3], q[:, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([(c * v[:, 3] + s * v[:, 4]).mean(), (c * v[:, 4] - s * v[:, 3]).mean(), v[:, 2].mean()])


def rolling(wheels, rates):
    """The same without slip along the directions: d (v + w x p) = R rate (d way) of each wheel."""
    rows = [(d[0], d[1], d[1] * p[0] - d[0] * p[1]) for p, _, d in wheels.values()]
    right = [R * rates[name] * np.dot(d, way) for name, (_, way, d) in wheels.items()]
    return np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)[0]


def assert_drives(wheels, path, rates):
    expected = rolling(wheels, rates)
    np.testing.assert_allclose(speeds_of(path, rates), expected, rtol=0.02, atol=0.02 * np.abs(expected).max())


MECANUM = {name: (place, (1.0, 0.0), (S, S if name in ("fr", "rl") else -S)) for name, place in CORNERS.items()}


@pytest.mark.parametrize("rates", [(4, 4, 4, 4), (-4, 4, 4, -4), (-4, 4, -4, 4), (2, 6, 5, 3)])
def test_a_mecanum_vehicle_drives_ahead_aside_turns_and_does_all_at_once(tmp_path, rates):
    assert_drives(MECANUM, vehicle(tmp_path / "v.sdf", MECANUM), dict(zip(CORNERS, rates, strict=True)))


OMNI = {}
for _n in range(3):
    _c, _s = np.cos(2 * np.pi * _n / 3), np.sin(2 * np.pi * _n / 3)
    OMNI[f"w{_n}"] = (A * _c, A * _s), (-_s, _c), (-_s, _c)


@pytest.mark.parametrize("rates", [(4, 4, 4), (0, 4, -4), (5, -1, 2)])
def test_three_omni_wheels_drive_in_any_direction(tmp_path, rates):
    assert_drives(OMNI, vehicle(tmp_path / "v.sdf", OMNI), dict(zip(OMNI, rates, strict=True)))


TRACKS = {
    f"{side}{n}": ((A * (n - 1.5) / 1.5, y), (1.0, 0.0), (1.0, 0.0))
    for side, y in (("l", B), ("r", -B))
    for n in range(4)
}


@pytest.mark.parametrize(("left", "right"), [(4, 4), (-4, 4), (2, 5)])
def test_tracks_that_slide_aside_turn_as_their_ends_run(tmp_path, left, right):
    """v = R (l + r) / 2, w = R (r - l) / 2 b; with friction aside a turn is slower."""
    rates = {name: left if name[0] == "l" else right for name in TRACKS}
    expected = np.array([R * (left + right) / 2, 0.0, R * (right - left) / (2 * B)])
    np.testing.assert_allclose(rolling(TRACKS, rates), expected, atol=1e-12)
    if left == right:
        assert_drives(TRACKS, vehicle(tmp_path / "v.sdf", TRACKS), rates)
        return
    # nothing holds a body aside: it turns about its middle and keeps its momentum
    turned = speeds_of(vehicle(tmp_path / "v.sdf", TRACKS), rates)
    assert turned[2] == pytest.approx(expected[2], rel=0.02)
    held = speeds_of(vehicle(tmp_path / "w.sdf", TRACKS, across=0.99), rates)
    assert abs(held[2]) < 0.9 * abs(expected[2])


def test_a_direction_of_the_wheel_itself_turns_with_it(tmp_path):
    """Then a mecanum wheel has its rollers along the way at times, and the vehicle does not go aside as it should."""
    path, rates = vehicle(tmp_path / "v.sdf", MECANUM), dict(zip(CORNERS, (-4, 4, 4, -4), strict=True))
    path.write_text(path.read_text().replace(' gz:expressed_in="chassis"', ""))
    expected = rolling(MECANUM, rates)
    assert np.abs(speeds_of(path, rates) - expected).max() > 0.1 * np.abs(expected).max()
