"""The quick set: the test files that `bash .ci/test -m quick` runs; they are to take a minute on two cores.

One or more files of every room, chosen by what they cover for the processor time that they take with kernels
interpreted: 2 s at most where there is a choice. Nets of recorded numbers and texts (recorded.py) reach most rooms;
beside them stand tests of what these do not call. `file:one,another` are some tests of a file, `file!one,another` all
others, `file/1` is the first case of each of its tests. What compiles, or asserts times, does not belong here. Measure
before you add a file: `time MBCLI_JIT=0 python -m pytest -m quick FILE`. `python -m benchmarks.mutations` counts faults
that the set notices.
"""

import re

OF_ROOMS = {
    "batch": (
        "batch_writer/1 number_lines "
        "ros_bags/1!damaged_bags_end_with_a_line,the_reader_of_foxglove_reads_the_same_messages "
        "rows_of_states/1!inputs_and_points_are_tables_of_the_same_notations,"
        "an_input_that_begins_after_the_end_is_told"
    ),
    "cli": "absurd_sizes cli_contact cli_every_command:every_command_prints_what_was_recorded cli_jacobian",
    "codegen": (
        "generated_code/1:python_takes_many_states_at_once,names_of_files_become_names_of_code,"
        "c_gives_what_kernels_give_and_a_proof_lies_beside_it "
        "model_calls "
        "plant_functions/1!their_growth_is_told_before_it_starts,"
        "frames_of_bodies_save_operations_of_steps_and_motions_under_constraints"
    ),
    "common": (
        "common_values coordinate_names fast_dataclass number_comparisons "
        "topology!the_forest_of_a_long_chain_needs_no_deep_stack"
    ),
    "conversion": "compare/1!engines_in_the_shell,processes_that_die_or_refuse convert_effort convert_mimic",
    "engine/collision": (
        "ahead:balls_do_not_pass_through_each_other "
        "collision_contacts/1!force_and_moment_change_continuously_from_a_face_to_an_edge,"
        "interpreted_and_compiled_searches_agree "
        "collision_pairs/1 deep_overlaps/1 exact_touch "
        "facing_faces nearest_in_simplices"
    ),
    "engine/constraints": (
        "constrained_calls/1 constraint_derivatives/1 dense_systems/1 nearest_positions/1 rotation_quaternions"
    ),
    "engine/contact": (
        "contact_laws contact_margin island_neighbors slip_steps worlds_forget "
        "arrivals/1 "
        "dual_friction/1:the_matrix_is_that_of_second_derivatives_where_the_dual_variable_follows_from_the_slip,"
        "the_matrix_has_no_negative_eigenvalue_for_any_dual_variable "
        "friction_directions/1:without_friction_across_a_body_is_braked_along_alone,"
        "without_friction_along_a_body_is_braked_across_alone,a_ball_that_spins_is_on_the_cone_of_both,"
        "what_strikes_and_bounces_keeps_its_speed_without_friction "
        "torsional_friction/1:momentum_balances_with_the_moments_of_contacts"
    ),
    "engine/limits": (
        "rest_at_limits tendon_limits "
        "slack_tendons:a_string_is_slack_at_any_shorter_length,a_continuous_plant_says_what_holds_a_dead_band,"
        "a_copy_in_mjcf_has_the_dead_band_and_other_formats_lose_it_with_a_word"
    ),
    "engine/runtime": "lane_formulas recorded_scenes precompiled:an_edit_of_a_source_changes_the_hash",
    "engine/smooth": (
        "dynamics_derivatives/1!derivatives_of_frames_are_those_of_complex_steps_and_differences "
        "engine_joints engine_theorems/1 "
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
    "environments": (
        "acting_terms task_files world_random "
        "environments/1!without_gymnasium_one_line_says_what_to_install,"
        "a_policy_sees_what_sensors_measure_at_the_end_of_its_step,"
        "pictures_are_arrays_of_bytes_and_show_that_something_moved "
        "term_modifiers/1!noise_and_bias_have_their_sizes_and_follow_from_the_seed,"
        "air_time_is_paid_when_a_body_touches_again,"
        "contact_forces_are_those_of_a_body_at_rest_and_of_none_in_the_air,"
        "delays_are_drawn_for_each_episode_and_include_both_ends "
        "usual_doors/1!a_copy_in_the_middle_of_episodes_goes_on_to_the_same_bits,"
        "stable_baselines_gets_last_observations_and_why_an_episode_ended "
        "parameter_draws!draws_follow_the_distribution,worlds_step_with_what_their_episode_drew"
    ),
    "geometry": (
        "contact_surfaces/1 convex_sets/1 frames_of_systems point_distances/1 pressure_fields/1 tetrahedral_shapes"
    ),
    "identification": "verdict:a_good_result_has_no_finding_and_its_errors_joint_by_joint",
    "log": (
        "all_worlds!plot_draws_a_line_for_each_world recorded_runs log_commands!a_closed_pipe_is_quiet log_fields "
        "log_exports!xarray_opens_a_log_and_knows_its_columns,rrd_files_are_written "
        "log_writer:the_newest_checkpoint_is_read,a_half_written_checkpoint_is_not_read"
    ),
    "math": (
        "autodiff_values own_copies rigid_transform scalar_functions spatial_vectors symbolic_functions "
        "symbolic_polynomials"
    ),
    "meshes": "mesh mesh_readers",
    "models": "placement twins",
    "multibody/constraints": (
        "constraints_impulses/1 constraints_inverse_dynamics/1 constraints_set differential_inverse_kinematics/1 "
        "inverse_kinematics/1!compiled_searches_find_what_interpreted_ones_find shared_velocities"
    ),
    "multibody/deformable": (
        "deformable_model deformable_steps:the_number_of_threads surface_samples "
        "elastic_bodies!the_matrix_is_the_derivative_of_the_impulses_in_the_unstrained_state,"
        "a_twisted_bar_converges_to_torsion,the_factorization_solves_as_a_dense_one_with_one_thread_and_two "
        "deformable_contexts/1:a_copy_of_a_context_has_the_contacts_of_the_last_step,a_wall_takes_its_vertices_back,"
        "errors_of_a_step_name_the_body_and_the_time"
    ),
    "multibody/linearization": "contact_derivatives/1!what_has_no_optimum_has_derivatives_by_differences",
    "multibody/plant": (
        "batch_functions/1!threads_and_other_rows_change_no_bit "
        "benchmark_plants context_copies jacobians/1 joints_of_files mass_properties/1 "
        "propeller_wing/1!commands_of_the_state_and_time_act_in_continuous_and_discrete_runs "
        "plant_config_functions plant_constraints/1 plant_structure ports/1 position_programs/1 questions/1 "
        "regressors/1 recorded_answers reference_small_names toppra state_functions/1 state_refusals"
    ),
    "multibody/sensing": "sensor_values",
    "multibody/stepping": (
        "integrators/1:without_error_control_the_step_is_the_largest,one_step_of_implicit_euler_is_its_definition,"
        "samples_lie_exactly_on_their_times,inputs_change_exactly_at_their_times,"
        "factors_with_row_exchanges_solve_random_systems missing_mass projection_energy "
        "transmission_actuators/1!a_stiff_servo_on_a_tendon_stays_stable_and_comes_to_its_aim,"
        "a_run_that_goes_on_from_the_middle_has_the_rows_of_one_that_did_not_stop,worlds_take_the_steps_of_single_runs"
    ),
    "multibody/tree": (
        "door_hinge!a_closed_door_stays_shut_and_an_open_one_comes_to_rest "
        "bushing:responses_solve_their_differential_equation_in_all_three_regimes frames index inertia joint_actuator "
        "joints/1 scoped_name"
    ),
    "optimal_control": "box_newton/1 control_files/1",
    "parsers": "diagnostics geometry_inertia package_map places reading_policy xml_edits xml_source yaml_source/1",
    "parsers/checks": "check_fixes check_folder check_model_units check_open_motion check_physics",
    "parsers/formats": "formats!no_module_compares_the_name_of_a_format",
    "parsers/mjcf": (
        "mjcf!damaged_documents_give_findings_and_no_other_exception,what_nests_far_beyond_256_is_read "
        "mjcf_attachments "
        "mjcf_inertia!a_mesh_of_vertices_alone_weighs_what_its_hull_does"
    ),
    "parsers/scenes": "directives plant_config schemas",
    "parsers/sdf": (
        "sdf sdf_force_elements/1 sdf_frames!a_chain_of_ten_thousand_frames_needs_no_recursion "
        "sdf_nested!includes_that_multiply_are_stopped sdf_surfaces/1 sdf_versions"
    ),
    "parsers/urdf": "srdf/1!runs_start_in_postures_and_hold_them urdf urdf_constraints",
    "parsers/usd": (
        "read_usd/1:an_arm_has_its_joints_limits_drives_and_masses,what_closes_loops_follows_or_must_not_touch,"
        "bodies_that_stand_turned_start_their_joints_there usd_values"
    ),
    "parsers/writing": "write_mjcf",
    "pictures": (
        "log_plot/1!with_a_display_the_plot_is_a_window,a_figure_follows_a_run_to_its_end,"
        "the_largest_numbers_are_plotted,"
        "names_that_matplotlib_would_read_otherwise_are_shown,a_terminal_follows_a_run_and_a_pipe_gets_its_end "
        "picture_framing timelines/1"
    ),
    "project": (
        "documents layers mutations:statements_terms_indices_and_comparisons_of_functions_are_found,"
        "a_fault_changes_its_place_alone_and_leaves_python,the_named_faults_change_functions_that_are_there,"
        "files_that_call_a_function_try_its_fault_the_fastest_first"
    ),
    "sensors": "limit_distance rays sensor_noise",
    "simulation": (
        "effort_limits/1 plugin_tables/1 start_limits "
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
    ),
    "solvers": "conic mathematical_program program_rows sums_of_squares updated_coefficients",
    "sweeps": (
        "shards!parts_that_are_merged_are_the_whole sweep_plots/1 sweep_points "
        "machine_faults:a_row_tells_the_model_from_the_machine,"
        "cases_are_taken_in_order_put_back_and_counted_once"
    ),
    "systems": (
        "batch_evaluation cache_entries context_text diagram diagram_conversion estimators ports_and_delays "
        "pyplot_visualizers "
        "walkers!a_rimless_wheel_comes_to_the_speed_at_which_impacts_take_what_the_slope_gives "
        "example_systems leaf_systems update_times "
        "linearize/1:a_pendulum_at_rest_is_its_closed_form,a_step_of_a_pendulum_is_its_closed_form,"
        "applied_forces_turn_with_their_body,a_limit_in_reach_has_the_derivatives_of_its_stop,"
        "linearize_needs_an_equilibrium_and_says_what_moves,the_command_gives_the_matrices_and_their_names"
    ),
    "tracing": "recorded_models recorded_numbers",
    "trajectories": "curves",
    "planning": (
        "direct_collocation!a_swing_up_is_a_motion_of_the_pendulum "
        "kinematic_trajectory_optimization region_of_attraction robot_diagram"
    ),
    "visualization": "meshcat!the_page_follows_a_script,the_default_views_change_no_motion",
}
ENTRIES = [re.fullmatch(r"(\w+)(/1)?(?:([:!])(\S+))?", entry) for names in OF_ROOMS.values() for entry in names.split()]
QUICK = {f"test_{entry[1]}.py": entry for entry in ENTRIES}


class QuickTests:
    """Which of the tests that are collected are in the set."""

    def __init__(self):
        self._seen = set()

    def has(self, file, test):
        """Whether a test function of a file is in it, when it is its turn: of some files the first case alone is."""
        entry = QUICK.get(file)
        if entry is None:
            return False
        if entry[3] and (test.removeprefix("test_") in entry[4].split(",")) != (entry[3] == ":"):
            return False
        again = (file, test) in self._seen
        self._seen.add((file, test))
        return not (entry[2] and again)
