"""Pictures are fitted to the robot, not to its ground and not to its flight; cameras are named or given by numbers."""

import dataclasses
import io

import numpy as np
import pytest
from command_line import cli
from repository import SAMPLES
from test_picture_forces import model_file
from test_replay import made_up_motion

from mbcli.models.loading import load_model
from mbcli.pictures.cameras import ROOM, VIEWS, Camera, read_camera, way_to_eye
from mbcli.pictures.drawn_images import drawn_images, rounded_down, time_digits, unit_text
from mbcli.pictures.framing import frame_runs, frame_scene
from mbcli.pictures.html import replay_page, view_page
from mbcli.pictures.model_scene import scene_of
from mbcli.pictures.scene import ContactPoints, Motion

ARM = """<robot name="arm"><link name="base"><visual><geometry><box size=".3 .3 .3"/></geometry></visual></link>
<link name="room"><visual><geometry><box size="20 20 5"/></geometry></visual></link>
<joint name="r" type="fixed"><parent link="base"/><child link="room"/></joint>
<link name="upper"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 .5"/><geometry><box size=".1 .1 1"/></geometry></visual></link>
<joint name="j" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint></robot>"""


def moved_motion(scene, ways):
    """The scene moved as one piece, but World, by ways (n, 3) [m], a row a second."""
    X = np.repeat(scene.X_WB[None], len(ways), axis=0)
    X[:, 1:, 4:] += np.asarray(ways, dtype=float)[:, None]
    return Motion("moved", np.arange(float(len(ways))), X)


@pytest.fixture(scope="module")
def quadruped():
    return scene_of(load_model(SAMPLES / "quadruped.urdf", contact=True, ground=0.0))


def test_a_robot_that_falls_far_is_followed_at_its_own_size(quadruped):
    still = frame_scene(quadruped)
    ways = np.outer(np.linspace(0.0, 1.0, 5), [3.0, 0.0, -50.0])
    framing = frame_runs([(quadruped, moved_motion(quadruped, ways))])
    assert still.centre.shape == (1, 3) and 0.3 < still.radius < 0.8
    assert framing.radius < 1.5 * still.radius
    np.testing.assert_allclose(framing.centre - framing.centre[0], ways, atol=1e-12)
    assert np.linalg.norm(framing.centre_at(0) - still.centre[0]) < 0.5 * still.radius


def test_a_robot_that_stays_is_seen_by_a_camera_that_stands_still(quadruped):
    ways = [[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]]
    framing = frame_runs([(quadruped, moved_motion(quadruped, ways))])
    assert framing.centre.shape == (1, 3) and framing.radius == pytest.approx(frame_scene(quadruped).radius, rel=0.2)


def test_a_second_run_that_goes_away_leaves_the_first_as_large(quadruped):
    runs = [(quadruped, moved_motion(quadruped, np.zeros((3, 3)))), (quadruped, moved_motion(quadruped, [[0, 0, 90]]))]
    framing = frame_runs(runs)
    assert framing.radius < 0.8 and framing.centre.shape == (3, 3)


def test_the_base_of_an_arm_is_in_its_picture_and_its_room_is_not(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    framing = frame_scene(scene_of(load_model(tmp_path / "arm.urdf", weld_base=True, contact=True)))
    assert 0.5 < framing.radius < 1.0 and framing.size == pytest.approx(np.sqrt(1.02))
    for corner in ([0.15, 0.15, -0.15], [0.05, 0.05, 1.0]):
        assert np.linalg.norm(np.array(corner) - framing.centre[0]) <= framing.radius


def test_a_plate_on_which_a_ball_lies_does_not_set_the_scale(tmp_path):
    framing = frame_scene(scene_of(load_model(model_file(tmp_path, "static", "plate"), contact=True)))
    assert framing.radius == pytest.approx(0.1, rel=0.1) and framing.size == pytest.approx(0.2 * np.sqrt(3), rel=0.05)


def test_where_nothing_moves_everything_is_in_the_picture(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM.replace("continuous", "fixed"))
    framing = frame_scene(scene_of(load_model(tmp_path / "arm.urdf", weld_base=True, contact=True)))
    assert framing.radius > 10.0


# ---------------------------------------------------------------------------------------------- cameras


def test_views_are_those_of_a_robot_that_looks_along_x():
    ways = {"front": [1, 0, 0], "back": [-1, 0, 0], "left": [0, 1, 0], "right": [0, -1, 0], "top": [0, 0, 1]}
    for name, way in {**ways, "bottom": [0, 0, -1]}.items():
        camera = read_camera(name)
        np.testing.assert_allclose(way_to_eye(camera.azimuth, camera.elevation), way, atol=1e-12)
    assert read_camera("iso") == Camera() and set(VIEWS) == {*ways, "bottom", "iso"}


def test_numbers_of_a_camera_are_angles_a_distance_or_places(quadruped):
    framing = frame_scene(quadruped)
    assert read_camera("30,-10") == Camera(30.0, -10.0)
    centre, radius, *_ = read_camera("30, 10, 2.5").seen(framing, 0)
    np.testing.assert_array_equal(centre, framing.centre[0])
    assert radius * ROOM / np.sin(np.radians(20.0)) == pytest.approx(2.5)
    centre, radius, azimuth, elevation = read_camera("1,2,1:1,1,0").seen(framing, 0)
    np.testing.assert_array_equal(centre, [1, 1, 0])
    assert (azimuth, elevation) == pytest.approx((90.0, 45.0))
    assert radius * ROOM / np.sin(np.radians(20.0)) == pytest.approx(np.sqrt(2.0))


@pytest.mark.parametrize(
    "text, message",
    [
        ("frnt", "did you mean 'front'"),
        ("", "is none of iso, front"),
        ("1", "1 numbers"),
        ("1,2,3,4", "4 numbers"),
        ("1,91", "beyond 90"),
        ("1,2,0", "distance"),
        ("1,nan", "is none of"),
        ("1,2,3:1,2,3", "where it looks"),
        ("1,2,3:1,2", "3 and 2 numbers"),
        ("1,2,3:", "is none of"),
    ],
)
def test_other_cameras_are_refused_in_one_line(tmp_path, text, message):
    for command in (["replay", tmp_path / "run.h5", "-o", tmp_path / "run.html"], ["view", SAMPLES / "quadruped.urdf"]):
        result = cli(*command, "--camera", text)
        assert result.code == 2 and message in result.err and result.err.count("\n") == 1


def test_pages_have_their_camera_and_the_views(quadruped):
    from test_replay import page_data

    camera = read_camera("left")
    run = (quadruped, moved_motion(quadruped, np.zeros((2, 3))))
    for text in (view_page(quadruped, camera), replay_page([run], "run", camera=camera)):
        data = page_data(text)
        assert data["camera"] == dataclasses.asdict(camera) and list(data["views"]) == list(VIEWS)


# ---------------------------------------------------------------------------------------------- time and scale


def picture_parts(png):
    """Whether the upper left corner of an image has dark writing, the lower left one the colour of forces, its middle
    something."""
    image = pytest.importorskip("matplotlib.image").imread(io.BytesIO(png))[..., :3]
    height, width = image.shape[:2]
    upper, lower = image[: height // 12, : width // 4], image[-height // 8 :, : width // 4]
    middle = image[height // 3 : -height // 3, width // 3 : -width // 3]
    pink = (np.abs(lower - [0.84, 0.2, 0.42]).max(axis=-1) < 0.1).any()
    return bool((upper.max(axis=-1) < 0.4).any()), bool(pink), float((np.ptp(middle, axis=(0, 1))).max()) > 0.2


def with_a_force(motion):
    offset = np.arange(len(motion.times) + 1)
    n = len(motion.times)
    contacts = ContactPoints(
        offset, motion.X_WB[:, 1, 4:], np.tile([0, 0, 50.0], (n, 1)), np.zeros(n, int), np.ones(n, int)
    )
    return dataclasses.replace(motion, contacts=contacts)


@pytest.mark.parametrize("camera", [*VIEWS, "10,20,1.5", "40,0,-30:0,0,-50"])
def test_images_without_chromium_show_the_robot_the_time_and_the_scale(quadruped, camera):
    motion = with_a_force(moved_motion(quadruped, [[0, 0, 0], [0, 0, -50.0]]))
    (image,) = drawn_images([(quadruped, motion)], np.array([1.0]), (320, 240), camera=read_camera(camera))
    assert picture_parts(image)[:2] == (True, True)
    if ":" not in camera:
        assert picture_parts(image)[2]


def test_an_image_without_contacts_has_no_scale_of_forces(quadruped):
    run = (quadruped, moved_motion(quadruped, np.zeros((2, 3))))
    assert picture_parts(next(drawn_images([run], np.array([1.0]), (320, 240)))) == (True, False, True)


def test_numbers_of_scales_are_round_and_times_have_the_digits_of_a_run():
    assert [rounded_down(value) for value in (9.99, 10.0, 49.0, 50.0, 166.8, 0.02)] == [5, 10, 20, 50, 100, 0.02]
    texts = [unit_text(value, "N") for value in (0.5, 10.0, 999.9, 1e3, 2.5e6, 2e-7)]
    assert texts == ["500 mN", "10 N", "1 kN", "1 kN", "2.5 MN", "0.2 µN"]
    motion = made_up_motion(2)
    digits = [
        time_digits([(None, dataclasses.replace(motion, times=np.array([0, end])))]) for end in (0.0, 0.02, 5, 700)
    ]
    assert digits == [2, 4, 2, 2]
