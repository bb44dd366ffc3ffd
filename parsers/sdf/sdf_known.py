"""The elements of SDFormat 1.2 to 1.12 and its Drake extensions: {element: children and @attributes}.

Read by `xml_source.report_unread` to tell elements that this program does not use from those that nobody knows, and
both from those that are for other programs: nothing that is computed here depends on FOREIGN ones.
"""

from mbcli.parsers.proximity_properties import ELEMENTS
from mbcli.parsers.sdf.sdf_deformables import MATERIAL, NUMBERS, PROPERTIES, WALL
from mbcli.parsers.sdf.sdf_geometry import SHAPES
from mbcli.parsers.sdf.sdf_joints import DYNAMICS, LIMIT
from mbcli.parsers.sdf.sdf_scopes import PHYSICS
from mbcli.parsers.xml_source import ANY

_NOISE = "mean stddev bias_mean bias_stddev precision dynamic_bias_stddev dynamic_bias_correlation_time"
_SCAN = "samples resolution min_angle max_angle"
_SENSED = "contact imu force_torque altimeter magnetometer air_pressure air_speed navsat gps lidar ray"
SENSOR_ELEMENTS = {
    "sensor": "@name @type always_on update_rate visualize pose topic plugin enable_metrics frame_id gz_frame_id "
    f"{_SENSED} camera logical_camera rfid rfidtag sonar transceiver",
    "imu": "orientation_reference_frame angular_velocity linear_acceleration enable_orientation noise topic",
    "orientation_reference_frame": "localization custom_rpy grav_dir_x",
    "custom_rpy": "@parent_frame",
    "grav_dir_x": "@parent_frame",
    "angular_velocity": "x y z",
    "linear_acceleration": "x y z",
    "force_torque": "frame measure_direction force torque",
    "force": "x y z",
    "torque": "x y z",
    **dict.fromkeys("xyz", "noise"),
    "noise": f"@type type rate accel {_NOISE}",
    "rate": _NOISE,
    "accel": _NOISE,
    "sensor/contact": "collision topic",
    "altimeter": "vertical_position vertical_velocity",
    "vertical_position": "noise",
    "vertical_velocity": "noise",
    "magnetometer": "x y z",
    "air_pressure": "reference_altitude pressure",
    "air_speed": "pressure",
    "pressure": "noise",
    **dict.fromkeys(("navsat", "gps"), "position_sensing velocity_sensing"),
    **dict.fromkeys(("position_sensing", "velocity_sensing"), "horizontal vertical"),
    **dict.fromkeys(("position_sensing/horizontal", "position_sensing/vertical"), "noise"),
    **dict.fromkeys(("velocity_sensing/horizontal", "velocity_sensing/vertical"), "noise"),
    **dict.fromkeys(("lidar", "ray"), "scan range noise visibility_mask"),
    "scan": "horizontal vertical",
    "scan/horizontal": _SCAN,
    "scan/vertical": _SCAN,
    "range": "min max resolution",
}

KNOWN = {
    tag: frozenset(names.split())
    for tag, names in {
        "sdf": "@version world model include light actor",
        "include": "@merge uri name pose static placement_frame namespace plugin joint_state link_state",
        "world": "@name model frame include joint audio wind gravity magnetic_field atmosphere gui physics "
        "scene light actor plugin road spherical_coordinates state population",
        "model": "@name @canonical_link @placement_frame @namespace static pose link joint frame include model "
        "plugin gripper self_collide allow_auto_disable enable_wind model_state drake:joint mbcli:joint "
        "drake:collision_filter_group " + " ".join(PHYSICS),
        "link": "@name pose inertial visual collision gravity kinematic enable_wind self_collide "
        "must_be_base_link velocity_decay sensor light projector audio_sink audio_source battery "
        "particle_emitter link_state " + f"{PROPERTIES} {WALL}",
        PROPERTIES: " ".join((*NUMBERS, MATERIAL)),
        WALL: "drake:point_on_plane drake:outward_normal",
        "inertial": "@auto pose mass inertia density auto_inertia_params fluid_added_mass",
        "inertia": "ixx iyy izz ixy ixz iyz",
        "visual": "@name pose geometry material cast_shadows laser_retro transparency visibility_flags meta "
        "plugin drake:accepting_renderer drake:illustration_properties drake:perception_properties",
        "collision": "@name pose geometry surface laser_retro max_contacts density auto_inertia_params "
        "drake:proximity_properties drake:visual",
        "geometry": " ".join(SHAPES) + " empty image",
        "polyline": "point height",
        "submesh": "name center",
        "heightmap": "uri size pos texture blend use_terrain_paging sampling",
        "plane": "normal size",
        "mesh": "@optimization uri scale submesh convex_decomposition drake:declare_convex",
        "material": "diffuse ambient specular emissive shininess script shader lighting pbr render_order "
        "double_sided drake:diffuse_map",
        "surface": "friction contact bounce soft_contact",
        "friction": "ode bullet torsional",
        "friction/ode": "mu mu2 fdir1 slip1 slip2",
        "fdir1": "@gz:expressed_in @ignition:expressed_in",
        "torsional": "coefficient use_patch_radius patch_radius surface_radius ode",
        "bounce": "restitution_coefficient threshold",
        "surface/contact": "collide_without_contact collide_without_contact_bitmask collide_bitmask category_bitmask "
        "poissons_ratio elastic_modulus ode bullet",
        "world/physics": "@name @default @type max_step_size real_time_factor real_time_update_rate max_contacts dart "
        "simbody bullet ode gravity magnetic_field provide_feedback",
        "velocity_decay": "linear angular",
        "drake:proximity_properties": " ".join(ELEMENTS),
        "frame": "@name @attached_to pose",
        "pose": "@relative_to @degrees @rotation_format",
        "spherical_coordinates": "surface_model world_frame_orientation latitude_deg longitude_deg elevation "
        "heading_deg surface_axis_equatorial surface_axis_polar",
        "wind": "linear_velocity",
        **SENSOR_ELEMENTS,
        "joint": "@name @type pose parent child axis axis2 thread_pitch screw_thread_pitch gearbox_ratio "
        "gearbox_reference_body physics sensor joint_state drake:rotor_inertia drake:gear_ratio "
        "drake:controller_gains drake:mimic mbcli:no_actuator",
        "axis": "xyz limit dynamics mimic initial_position mbcli:initial_position",
        "axis2": "xyz limit dynamics mimic initial_position mbcli:initial_position",
        "xyz": "@expressed_in",
        "limit": " ".join(LIMIT),
        "dynamics": " ".join(DYNAMICS),
        "mimic": "@joint @axis multiplier offset reference",
        "drake:mimic": "@joint @multiplier @offset",
        "drake:controller_gains": "@p @d",
        "drake:joint": "@name @type drake:parent drake:child drake:damping",
        "mbcli:joint": "@name @type mbcli:parent mbcli:child mbcli:damping",
        "drake:collision_filter_group": "@name @ignore drake:member drake:member_group "
        "drake:ignored_collision_filter_group",
    }.items()
}

FOREIGN = {
    tag: frozenset(names.split())
    for tag, names in {
        "sdf": "light actor",
        "world": "audio wind magnetic_field atmosphere gui physics scene light actor road spherical_coordinates",
        "world/physics": ANY,
        "model": "gripper allow_auto_disable enable_wind",
        "link": "enable_wind must_be_base_link light projector audio_sink audio_source battery particle_emitter",
        "joint": "physics",
        "visual": "cast_shadows laser_retro transparency visibility_flags meta drake:accepting_renderer "
        "drake:illustration_properties drake:perception_properties",
        "material": ANY,
        "collision": "laser_retro max_contacts drake:visual",
        "surface": "soft_contact",
        "surface/contact": "collide_without_contact_bitmask poissons_ratio elastic_modulus ode bullet",
        "friction": "bullet",
        "friction/ode": "slip1 slip2",
        "torsional": "ode",
        "plane": "size",
    }.items()
}
