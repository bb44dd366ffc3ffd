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
    "common": "coordinate_names fast_dataclass number_comparisons topology",
    "conversion": "compare/1 convert_effort convert_mimic",
    "engine/collision": (
        "ahead:balls_do_not_pass_through_each_other collision_contacts/1 collision_pairs/1 deep_overlaps/1 exact_touch "
        "facing_faces nearest_in_simplices"
    ),
    "engine/constraints": (
        "constrained_calls/1 constraint_derivatives/1 constraint_rows/1 dense_systems nearest_positions/1 "
        "rotation_quaternions"
    ),
    "engine/contact": (
        "contact_constraints/1 contact_laws contact_margin contact_solver/1 island_neighbors slip_steps worlds_forget "
        "arrivals/1 "
        "dual_friction/1:the_matrix_is_that_of_second_derivatives_where_the_dual_variable_follows_from_the_slip,"
        "the_matrix_has_no_negative_eigenvalue_for_any_dual_variable "
        "friction_directions/1:without_friction_across_a_body_is_braked_along_alone,"
        "without_friction_along_a_body_is_braked_across_alone,a_ball_that_spins_is_on_the_cone_of_both,"
        "what_strikes_and_bounces_keeps_its_speed_without_friction "
        "restitution/1:below_the_threshold_nothing_bounces,a_ball_bounces_in_a_continuous_plant,"
        "a_row_of_balls_hands_on_all_of_its_momentum,unequal_balls_separate_as_newtons_law_says,"
        "friction_in_a_bounce_is_that_of_its_impulse,"
        "the_law_of_a_pair_is_a_product_and_none_takes_that_of_the_other "
        "torsional_friction/1:momentum_balances_with_the_moments_of_contacts"
    ),
    "engine/limits": (
        "bounded_rows dry_friction/1:a_block_on_a_rail_slows_down_evenly_and_stays_where_it_stops,"
        "a_force_below_the_bound_moves_nothing_and_one_above_it_what_is_left,"
        "friction_is_at_its_bound_against_the_motion_or_below_it_at_rest,its_work_is_the_bound_times_the_travel "
        "joints_at_limits/1:a_step_from_limits_is_finite_and_keeps_them pd_control/1 rest_at_limits tendon_limits "
        "slack_tendons:a_string_is_slack_at_any_shorter_length,a_continuous_plant_says_what_holds_a_dead_band,"
        "a_copy_in_mjcf_has_the_dead_band_and_other_formats_lose_it_with_a_word"
    ),
    "engine/runtime": (
        "cell_names lane_formulas precompiled/1:results_equal_those_of_kernels_compiled_here_to_rounding,"
        "arguments_of_other_types_are_refused,handles_may_be_given_at_each_call,of_other_sources_none_are_used,"
        "the_environment_turns_them_off,an_edit_of_a_source_changes_the_hash"
    ),
    "engine/smooth": (
        "dynamics_derivatives/1 engine_joints engine_theorems/1 "
        "engine_scalars/1:complex_steps_pass_through_whole_integration_steps,"
        "complex_steps_pass_through_normalization_of_quaternions,complex_steps_pass_through_the_power_of_damping,"
        "complex_steps_pass_through_the_path_to_a_body,complex_steps_pass_through_the_moment_of_a_push,"
        "complex_steps_pass_through_actuation,complex_steps_pass_through_transmissions,"
        "complex_steps_pass_through_springs_along_paths_and_weights_that_a_drive_holds,"
        "complex_steps_pass_through_the_changes_of_force_elements,"
        "complex_steps_pass_through_the_elements_of_a_regressor,"
        "complex_steps_pass_through_where_a_step_takes_its_forces,"
        "complex_steps_pass_through_where_a_step_under_constraints_takes_its_forces,"
        "every_smooth_kernel_has_run_on_complex_numbers"
    ),
    "environments": "environments/1 task_files world_random",
    "geometry": ("contact_surfaces/1 frames_of_systems point_distances/1 pressure_fields/1 tetrahedral_shapes"),
    "identification": (
        "bounds verdict:a_good_result_has_no_finding_and_its_errors_joint_by_joint,"
        "unseen_errors_that_are_larger_than_the_files_are_found,"
        "dense_bodies_and_files_that_lose_what_counts_are_found"
    ),
    "log": "log_commands log_fields log_writer:the_newest_checkpoint_is_read,a_half_written_checkpoint_is_not_read",
    "math": (
        "autodiff_values own_copies rigid_transform scalar_functions spatial_vectors symbolic_functions "
        "symbolic_polynomials"
    ),
    "meshes": "mesh mesh_readers",
    "models": "placement twins",
    "multibody/constraints": (
        "constraints_impulses/1 constraints_inverse_dynamics/1 constraints_set differential_inverse_kinematics/1 "
        "inverse_kinematics/1 shared_velocities"
    ),
    "multibody/deformable": (
        "deformable_model deformable_steps:the_number_of_threads elastic_bodies surface_samples "
        "deformable_contexts/1:a_copy_of_a_context_has_the_contacts_of_the_last_step,a_wall_takes_its_vertices_back,"
        "errors_of_a_step_name_the_body_and_the_time"
    ),
    "multibody/linearization": "contact_derivatives/1",
    "multibody/plant": (
        "batch_functions/1 benchmark_plants context_copies jacobians/1 joints_of_files mass_properties/1 "
        "orders_of_calls propeller_wing/1 plant_config_functions plant_constraints/1 plant_structure ports/1 "
        "questions/1 reaction_forces reference_small_names state_functions/1 state_refusals"
    ),
    "multibody/sensing": "sensor_values",
    "multibody/stepping": (
        "integrators/1:without_error_control_the_step_is_the_largest,one_step_of_implicit_euler_is_its_definition,"
        "samples_lie_exactly_on_their_times,inputs_change_exactly_at_their_times,"
        "factors_with_row_exchanges_solve_random_systems missing_mass projection_energy transmission_actuators/1"
    ),
    "multibody/tree": (
        "bushing:responses_solve_their_differential_equation_in_all_three_regimes frames index inertia joint_actuator "
        "joints/1 scoped_name"
    ),
    "parsers": "diagnostics geometry_inertia package_map places reading_policy xml_edits xml_source yaml_source",
    "parsers/checks": "check_fixes check_folder check_model_units check_open_motion check_physics",
    "parsers/formats": "formats",
    "parsers/mjcf": "mjcf mjcf_attachments mjcf_inertia",
    "parsers/scenes": "directives plant_config schemas",
    "parsers/sdf": "sdf sdf_force_elements/1 sdf_frames sdf_nested sdf_surfaces/1 sdf_versions",
    "parsers/urdf": "srdf/1 urdf urdf_constraints",
    "parsers/usd": "usd_values",
    "parsers/writing": "write_mjcf",
    "pictures": "picture_framing",
    "project": (
        "documents layers rooms mutations:statements_terms_indices_and_comparisons_of_functions_are_found,"
        "a_fault_changes_its_place_alone_and_leaves_python,the_named_faults_change_functions_that_are_there,"
        "files_that_call_a_function_try_its_fault_the_fastest_first"
    ),
    "sensors": "limit_distance rays sensor_kinds sensor_noise",
    "simulation": (
        "effort_limits/1 plugin_tables/1 servo_inputs/1 start_limits "
        "velocity_limits:limits_act_in_one_run_alone_and_zero_is_none "
        "controllers/1:a_function_is_called_at_each_step_with_what_its_parameters_name,"
        "what_it_returns_holds_until_its_next_call,steps_of_a_continuous_plant_end_where_a_controller_is_called,"
        "the_state_that_it_is_given_is_a_copy,random_numbers_come_from_the_seed_of_the_run,"
        "a_class_is_made_for_each_run_and_reset_at_its_start,actuators_are_named_and_others_keep_what_they_had,"
        "targets_move_the_controllers_that_hold_joints,efforts_end_at_their_limits,"
        "a_run_does_not_go_on_without_its_controller,a_controller_gets_the_sensors_of_the_model_as_the_log_has_them,"
        "a_program_ends_with_the_run,plans_between_their_rows,"
        "a_cart_follows_a_plan_and_says_how_far_it_is_off,faults_of_plans_are_named,"
        "a_plan_takes_velocities_by_the_names_of_tables_of_states_and_leaves_accelerations "
        "holding/1:gains_that_are_given_replace_those_of_the_masses,effort_limits_are_kept_and_gains_do_not_ask_for_more,"
        "a_leg_carries_the_body_if_that_is_more,a_joint_that_leads_others_carries_them_too,targets_stay_within_limits,"
        "joints_that_close_loops_are_left_alone "
        "plugins/1:the_speed_of_a_rotor_comes_and_goes_with_its_time_constants,"
        "the_wind_drags_a_rotor_and_rolls_its_body,a_joint_controller_of_forces_is_a_proportional_law,"
        "velocity_commands_move_a_joint_to_its_position_at_a_bounded_speed "
        "plugin_laws/1:lift_and_drag_follow_their_formula_at_200_points,there_is_no_lift_beyond_the_stall,"
        "a_body_sinks_at_the_velocity_at_which_water_carries_it,a_link_comes_to_the_speed_of_any_wind"
    ),
    "solvers": "mathematical_program",
    "sweeps": (
        "sweep_points machine_faults:a_row_tells_the_model_from_the_machine,"
        "cases_are_taken_in_order_put_back_and_counted_once"
    ),
    "systems": (
        "cache_entries context_text diagram example_systems leaf_systems simulator_goes_on update_times "
        "linearize/1:a_pendulum_at_rest_is_its_closed_form,a_step_of_a_pendulum_is_its_closed_form,"
        "applied_forces_turn_with_their_body,a_limit_in_reach_has_the_derivatives_of_its_stop,"
        "linearize_needs_an_equilibrium_and_says_what_moves,the_command_gives_the_matrices_and_their_names"
    ),
    "tracing": "recorded_models recorded_numbers",
    "trajectories": "curves",
    "planning": "kinematic_trajectory_optimization",
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
