"""The quick set: the test files that `bash .ci/test -m quick` runs; they are to take a minute on two cores.

One or more files of every room, chosen by what they cover for the processor time that they take with kernels
interpreted: 2 s at most where there is a choice. `file:one,another` are some tests of a file, `file/1` is the first
case of each of its tests. What compiles, or asserts times, does not belong here. Measure before you add a file:
`time MBCLI_JIT=0 python -m pytest -m quick FILE`. `python -m benchmarks.mutations` counts faults that the set notices.
"""

import re

OF_ROOMS = {
    "batch": "batch_writer/1 number_lines",
    "cli": "absurd_sizes cli_check cli_contact cli_jacobian",
    "codegen": "generated_code:python_takes_many_states_at_once,names_of_files_become_names_of_code",
    "common": "coordinate_names fast_dataclass topology",
    "conversion": "convert_effort convert_mimic",
    "engine/collision": (
        "ahead:balls_do_not_pass_through_each_other collision_contacts/1 collision_pairs/1 deep_overlaps/1 exact_touch "
        "facing_faces nearest_in_simplices"
    ),
    "engine/constraints": (
        "constrained_calls/1 constraint_derivatives/1 constraint_rows/1 nearest_positions/1 rotation_quaternions"
    ),
    "engine/contact": (
        "contact_constraints/1 contact_laws contact_margin contact_solver/1 island_neighbors slip_steps worlds_forget"
    ),
    "engine/limits": (
        "bounded_rows/1 dry_friction/1:a_block_on_a_rail_slows_down_evenly_and_stays_where_it_stops,"
        "a_force_below_the_bound_moves_nothing_and_one_above_it_what_is_left,"
        "friction_is_at_its_bound_against_the_motion_or_below_it_at_rest,its_work_is_the_bound_times_the_travel "
        "joints_at_limits/1:a_step_from_limits_is_finite_and_keeps_them pd_control/1 rest_at_limits tendon_limits"
    ),
    "engine/runtime": "cell_names",
    "engine/smooth": "dynamics_derivatives/1 engine_joints engine_theorems/1",
    "environments": "task_files world_random",
    "geometry": "point_distances/1 tetrahedral_shapes",
    "identification": "bounds",
    "log": "log_commands log_writer:the_newest_checkpoint_is_read,a_half_written_checkpoint_is_not_read",
    "math": "own_copies rigid_transform spatial_vectors",
    "meshes": "mesh mesh_readers",
    "models": "placement twins",
    "multibody/constraints": "constraints_set inverse_kinematics/1 shared_velocities",
    "multibody/deformable": "deformable_model deformable_steps:the_number_of_threads elastic_bodies/1",
    "multibody/linearization": "contact_derivatives/1",
    "multibody/plant": (
        "batch_functions/1 context_copies jacobians/1 joints_of_files mass_properties/1 orders_of_calls "
        "plant_config_functions plant_constraints/1 plant_structure ports/1 questions/1 reaction_forces "
        "reference_small_names state_functions/1 state_refusals"
    ),
    "multibody/sensing": "sensor_values",
    "multibody/stepping": "missing_mass projection_energy",
    "multibody/tree": "frames index inertia joint_actuator joints/1 scoped_name",
    "parsers": "diagnostics geometry_inertia package_map places reading_policy xml_edits xml_source yaml_source",
    "parsers/checks": "check_folder check_model_units check_open_motion check_physics",
    "parsers/formats": "formats",
    "parsers/mjcf": "mjcf mjcf_attachments mjcf_inertia",
    "parsers/scenes": "directives plant_config schemas",
    "parsers/sdf": "sdf sdf_force_elements/1 sdf_frames sdf_nested sdf_surfaces/1 sdf_versions",
    "parsers/urdf": "urdf urdf_constraints",
    "parsers/usd": "usd_values",
    "parsers/writing": "write_mjcf",
    "pictures": "picture_framing",
    "project": "documents layers mutations rooms",
    "sensors": "limit_distance rays sensor_kinds",
    "simulation": (
        "effort_limits/1 plugin_tables/1 servo_inputs/1 start_limits "
        "velocity_limits:limits_act_in_one_run_alone_and_zero_is_none"
    ),
    "solvers": "mathematical_program",
    "sweeps": (
        "sweep_points machine_faults:a_row_tells_the_model_from_the_machine,"
        "cases_are_taken_in_order_put_back_and_counted_once"
    ),
    "systems": "diagram simulator_goes_on update_times",
    "tracing": "recorded_numbers",
    "visualization": "meshcat",
}
ENTRIES = [re.fullmatch(r"(\w+)(/1)?(?::(\S+))?", entry) for names in OF_ROOMS.values() for entry in names.split()]
QUICK = {f"test_{entry[1]}.py": entry for entry in ENTRIES}


class QuickTests:
    """Which of the tests that are collected are in the set."""

    def __init__(self):
        self._seen = set()

    def has(self, file, test):
        """Whether a test function of a file is in it, when it is its turn: of some files the first case alone is."""
        entry = QUICK.get(file)
        if entry is None or (entry[3] and test.removeprefix("test_") not in entry[3].split(",")):
            return False
        again = (file, test) in self._seen
        self._seen.add((file, test))
        return not (entry[2] and again)
