"""The quick set: the test files that `bash .ci/test -m quick` runs; they are to take a minute on two cores.

One or more files of every room, chosen by what they cover for the processor time that they take with kernels
interpreted: 2 s at most where there is a choice. `file:one,another` are some tests of a file. A file that compiles, or
that asserts times, does not belong here. Measure before you add one: `time MBCLI_JIT=0 python -m pytest FILE`; and
`python -m benchmarks.mutations` says which faults the set notices.
"""

OF_ROOMS = {
    "batch": "number_lines",
    "cli": "absurd_sizes cli_check cli_contact cli_jacobian",
    "common": "coordinate_names fast_dataclass topology",
    "conversion": "convert_effort convert_mimic",
    "engine/collision": ("ahead:balls_do_not_pass_through_each_other exact_touch facing_faces nearest_in_simplices"),
    "engine/constraints": "rotation_quaternions",
    "engine/contact": "contact_laws contact_margin island_neighbors slip_steps worlds_forget",
    "engine/limits": "rest_at_limits tendon_limits",
    "engine/runtime": "cell_names",
    "engine/smooth": "engine_joints",
    "environments": "task_files world_random",
    "geometry": "tetrahedral_shapes",
    "identification": "xml_edits",
    "log": "log_commands log_writer:the_newest_checkpoint_is_read,a_half_written_checkpoint_is_not_read",
    "math": "own_copies rigid_transform spatial_vectors",
    "meshes": "mesh mesh_readers",
    "models": "placement twins",
    "multibody/constraints": "constraints_set shared_velocities",
    "multibody/deformable": "deformable_model",
    "multibody/linearization": "contact_derivatives",
    "multibody/plant": (
        "context_copies joints_of_files orders_of_calls plant_config_functions plant_structure reaction_forces "
        "reference_small_names state_refusals"
    ),
    "multibody/sensing": "sensor_values",
    "multibody/stepping": "missing_mass projection_energy",
    "multibody/tree": "frames index inertia joint_actuator scoped_name",
    "parsers": "diagnostics geometry_inertia package_map places reading_policy xml_source yaml_source",
    "parsers/checks": "check_folder check_model_units check_open_motion check_physics",
    "parsers/formats": "formats",
    "parsers/mjcf": "mjcf mjcf_attachments mjcf_inertia",
    "parsers/scenes": "directives plant_config schemas",
    "parsers/sdf": "sdf sdf_frames sdf_nested sdf_versions",
    "parsers/urdf": "urdf urdf_constraints",
    "parsers/usd": "usd_values",
    "parsers/writing": "write_mjcf",
    "pictures": "picture_framing",
    "project": "documents layers rooms",
    "sensors": "limit_distance rays sensor_kinds",
    "simulation": "start_limits sweep_points velocity_limits:limits_act_in_one_run_alone_and_zero_is_none",
    "solvers": "mathematical_program",
    "systems": "diagram simulator_goes_on update_times",
    "visualization": "meshcat",
}
_ENTRIES = [name.partition(":") for names in OF_ROOMS.values() for name in names.split()]
QUICK = {f"test_{file}.py": tests.split(",") if tests else None for file, _, tests in _ENTRIES}  # None: all


def is_quick(file, test):
    """Whether a test function of a file is in the set."""
    return file in QUICK and (QUICK[file] is None or test.removeprefix("test_") in QUICK[file])
