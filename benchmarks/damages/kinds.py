"""The 48 damages: what is changed, which element is at fault, and in which formats it can be said."""

from typing import NamedTuple

ALL = ("urdf", "sdf", "mjcf")
URDF_SDF = ("urdf", "sdf")


class Damage(NamedTuple):
    """element: a name, or some with | between them, that the finding must name or stand at. change(links, joints), or
    (old, new) texts of URDF."""

    element: str
    change: object
    formats: tuple = ALL


def _set(table, name, key, value):
    """A change of one value; value: a number, a list, or a function of the old one."""

    def change(links, joints):
        row = {"link": links, "joint": joints}[table][name]
        row[key] = value(row[key]) if callable(value) else value

    return change


def _all(*changes):
    def change(links, joints):
        for one in changes:
            one(links, joints)

    return change


def _times(factor):
    return lambda value: [factor * v for v in value] if isinstance(value, list) else factor * value


def _swapped(i, j):
    def swap(values):
        values = list(values)
        values[i], values[j] = values[j], values[i]
        return values

    return swap


def _link(name, **values):
    return _all(*(_set("link", name, key, value) for key, value in values.items()))


def _joint(name, **values):
    return _all(*(_set("joint", name, key, value) for key, value in values.items()))


def _about_joint(links, joints):
    link = links["left_upper"]
    x, y, z = link["com"]
    m = link["mass"]
    shift = (m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y), -m * x * y, -m * x * z, -m * y * z)
    link["inertia"] = [a + b for a, b in zip(link["inertia"], shift, strict=True)]


def _all_origins(links, joints):
    for joint in joints.values():
        joint["at"] = [1000 * x for x in joint["at"]]


def _exchanged(links, joints):
    joints["left_elbow"]["child"], joints["right_elbow"]["child"] = "right_forearm", "left_forearm"


def _without_joint(links, joints):
    del joints["left_roll"]


KINDS = {
    # units
    "rpy_in_degrees": Damage("left_elbow|left_forearm", _joint("left_elbow", turn=[0, 90, 0])),
    "inertial_rpy_in_degrees": Damage("left_hand", _link("left_hand", turn=[0, 0, 45]), URDF_SDF),
    "limits_in_degrees": Damage("left_elbow", _joint("left_elbow", lower=-126, upper=3)),
    "mass_in_grams": Damage("left_upper", _link("left_upper", mass=2000)),
    "mass_in_grams_and_inertia": Damage("left_upper", _link("left_upper", mass=2000, inertia=_times(1000))),
    "mass_in_tonnes": Damage("left_upper", _link("left_upper", mass=0.002, inertia=_times(1e-3))),
    "inertia_in_g_mm2": Damage("left_forearm", _link("left_forearm", inertia=_times(1e9))),
    "inertia_in_kg_mm2": Damage("left_forearm", _link("left_forearm", inertia=_times(1e6))),
    "joint_origin_in_mm": Damage("left_elbow", _joint("left_elbow", at=_times(1000))),
    "all_joint_origins_in_mm": Damage("left_pitch", _all_origins),
    "com_in_mm": Damage("left_forearm", _link("left_forearm", com=_times(1000))),
    "prismatic_in_mm": Damage("left_grip_a", _joint("left_grip_a", upper=40)),
    "mesh_in_mm": Damage("left_forearm", _link("left_forearm", scale=[1000, 1000, 1000])),
    "mesh_scaled_twice": Damage("left_forearm", _link("left_forearm", scale=[1e-3, 1e-3, 1e-3])),
    "box_in_mm": Damage("left_hand", _link("left_hand", size=_times(1000))),
    # mass and inertia
    "inertial_missing": Damage("left_forearm", _link("left_forearm", inertial=False), URDF_SDF),
    "mass_zero": Damage("left_forearm", _link("left_forearm", mass=0)),
    "mass_negative": Damage("left_forearm", _link("left_forearm", mass=-1.2)),
    "inertia_about_joint": Damage("left_upper", _about_joint),
    "axes_swapped": Damage("left_upper", _link("left_upper", inertia=_swapped(0, 2))),
    "moment_negative": Damage("left_upper", _link("left_upper", inertia=lambda i: [-i[0], *i[1:]])),
    "decimal_point": Damage("left_upper", _link("left_upper", inertia=lambda i: [100 * i[0], *i[1:]])),
    "order_of_six_numbers": Damage(
        "left_upper", _link("left_upper", inertia=lambda i: [i[0], i[3], i[4], i[1], i[5], i[2]])
    ),
    "com_sign": Damage("left_forearm", _link("left_forearm", com=[0, 0, 0.5])),
    # left and right
    "right_com_not_mirrored": Damage("right_shoulder", _link("right_shoulder", com=[0, 0.05, 0])),
    "right_offset_not_mirrored": Damage("right_shoulder", _joint("right_pitch", at=[0, 0.2, 0.45])),
    "right_limits_not_mirrored": Damage("right_upper", _joint("right_roll", lower=-0.2, upper=2.4)),
    "inertia_product_sign_not_mirrored": Damage(
        "right_upper", _link("right_upper", inertia=lambda i: [*i[:3], -i[3], *i[4:]])
    ),
    "right_mass_mistyped": Damage("right_hand", _link("right_hand", mass=4.0, inertia=_times(10))),
    "right_axis_wrong": Damage("right_forearm", _joint("right_elbow", axis=[1, 0, 0])),
    "right_effort_zero": Damage("right_forearm", _joint("right_elbow", effort=0), URDF_SDF),
    "right_velocity_zero": Damage("right_upper", _joint("right_roll", velocity=0), URDF_SDF),
    "wrong_parent": Damage("right_forearm", _joint("right_elbow", parent="right_shoulder")),
    "sides_exchanged": Damage("right_forearm", _exchanged),
    # geometry
    "collision_far_from_visual": Damage("left_upper", _link("left_upper", collision=[0, 0.01, -1.5]), URDF_SDF),
    "size_negative": Damage("left_hand", _link("left_hand", size=lambda s: [-s[0], *s[1:]])),
    "mesh_misspelt": Damage("left_forearm", _link("left_forearm", mesh="meshes/foreram.stl")),
    "package_wrong": Damage("left_forearm", _link("left_forearm", mesh="package://arms/mesh/arm.stl"), URDF_SDF),
    # structure and names
    "joint_missing": Damage("left_upper", _without_joint, ("urdf",)),
    "parent_misspelt": Damage("left_elbow", _joint("left_elbow", parent="left_uper"), URDF_SDF),
    "cycle": Damage("left_pitch|left_shoulder", _joint("left_pitch", parent="left_hand"), URDF_SDF),
    "mimic_misspelt": Damage("left_grip_b|left_grip", _joint("left_grip_b", mimic="left_grip")),
    "mimic_sign": Damage("left_grip_b", _joint("left_grip_b", multiplier=-1), URDF_SDF),
    "name_twice": Damage("left_hand", ('<link name="left_forearm">', '<link name="left_hand">'), ("urdf",)),
    "limits_exchanged": Damage("left_elbow", _joint("left_elbow", lower=0.05, upper=-2.2)),
    "axis_zero": Damage("left_elbow", _joint("left_elbow", axis=[0, 0, 0])),
    # text
    "decimal_comma": Damage("left_forearm", _link("left_forearm", mass="1,2")),
    "element_misspelt": Damage("torso", ('<mass value="12"/>', '<mas value="12"/>'), ("urdf",)),
}
