"""Small stand-ins for what the public directives name and is not among the public models."""

import shutil

from command_line import hinge, one_robot


def sdf(name, body, frames=""):
    inertial = "<inertial><mass>0.5</mass><inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial>"
    return f'<sdf version="1.9"><model name="{name}"><link name="{body}">{inertial}</link>{frames}</model></sdf>'


def write_homecart(folder, models_dir):
    """The package drake_models in a folder: the public directives and stand-ins for their models; its directory."""
    package = folder / "drake_models"
    fixed = "".join(
        f'<joint name="j_{link}" type="fixed"><parent link="homecart_base_link"/><child link="{link}"/>'
        f'<origin xyz="{k} 0 1"/></joint>'
        for k, link in enumerate(("left_arm_base_link", "right_arm_base_link", "homecart_baseplate_link"))
    )
    cart = ["homecart_base_link", "left_arm_base_link", "right_arm_base_link", "homecart_baseplate_link"]
    arm = ["ur_base_link", "ur_arm_link", "ur_ee_link"]
    joints = hinge("shoulder", "ur_base_link", "ur_arm_link") + hinge("wrist", "ur_arm_link", "ur_ee_link")
    finger_frame = '<frame name="body_frame" attached_to="body"><pose>0 0 0.1 0 0 0</pose></frame>'
    files = {
        "tri_homecart/homecart_bimanual.urdf": one_robot(cart, fixed),
        "tri_homecart/homecart_collision_walls.sdf": sdf("walls", "homecart_collision_walls"),
        "tri_homecart/homecart_cutting_board.sdf": sdf("board", "homecart_cutting_board_link"),
        "ur_description/urdf/ur3e_cylinders_collision.urdf": one_robot(arm, joints),
        "wsg_50_description/sdf/schunk_wsg_50_with_tip.sdf": sdf("gripper", "body", finger_frame),
    }
    for name, text in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in (models_dir / "directives").glob("*.dmd.yaml"):
        shutil.copy(path, package / "tri_homecart" / path.name)
    return package
