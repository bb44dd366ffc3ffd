"""What the tests have to know about kernels: which ones do not keep to the rule of smooth ones, and their switches.

A smooth kernel is analytic in its real numbers: it runs on complex arrays, and its derivatives by complex steps are
right. All others are listed here, so that a new kernel is smooth unless someone says otherwise.
"""

# packages in which the size of numbers decides everywhere: what touches, what sticks, what has converged
NOT_SMOOTH_PACKAGES = ("contact.", "collision.", "stepping.contact_")

NOT_SMOOTH = {
    # error estimates, Newton's method and pivots compare sizes of numbers
    "explicit_step",
    "larger",
    "factorize",
    "solve_factorized",
    "jacobian_by_differences",
    "implicit_step",
    # asks whether numbers are finite, and quaternions zero
    "query_state_fault",
    # asks whether a length or an angle is too small
    "element_fault",
    "calc_element_fault",
    "gimbal_lock",
    # Newton's method for limited efforts asks which limits are reached
    "limited_dynamics",
    "side_of_line",
    "bound_of_line",
    "kink_of_line",
    "clamped_effort",
    "count_disagreements",
    "size_accelerations",
    "size_of_acceleration",
    "assume_efforts",
    "effort_of_step",
    "slope_along_step",
    "share_of_step",
    "finish_controllers",
    "dof_of_line",
    "move_point",
    "start_friction",
    "finish_friction",
    # asks how near a limit is
    "limit_gap",
    "reach_of_limits",
    "reach_limits",
    "is_in_reach",
    # the largest element of a rotation says which formula gives its quaternion; opposite vectors have no middle
    "rotation_quaternion",
    "set_rotation",
    "set_pose",
    "half_way",
    # pivots say which constraints depend on others, errors whether there is anything to correct
    "measure_rows",
    "factorize_multipliers",
    "largest_error",
    "project_positions",
    # whether the constraints keep their rank, and whether a projection ends
    "at_constrained_stage",
    "finish_constrained_step",
    "note_rank",
    "constrained_step_fault",
    "project_onto_constraints",
    "cross_singular_position",
    "interpolate_across",
    "solve_motion",
    "project_state",
    "start_constrained_step",  # asks whether there are constraints
    "solve_step",
    "solve_in_middle",
    "end_motion",
    "factorize_in_middle",
    "is_stiff",
    "stay_within_limits",
    "correct_positions",
    "is_corrected",
    "is_stuck",
    "correct_velocities",
    "project_end",
    "sum_of_squares",
    "damp_multipliers",
    # looks up where on a curve a distance falls
    "segment_at",
    # the loops compare times and look for numbers that are not finite
    "all_finite",
    "hold_input",
    "record",
    "set_state",
    "next_input_change",
    "keep_state",
    "note_ranks",
    "restore_ranks",
    "note_constraint_ranks",
    "restore_constraint_ranks",
    "doubled_step",
    "solve_stages",
    "factorize_stages",
    "filtered_error",
    "join_stages",
    "run_discrete",
    "step_fault",
    # ask whether solids can touch at all, and whether contacts found room
    "set_contact_forces",
    "keeps_contacts",
    "keep_contacts",
    "lacks_room",
    "finish_step",
    "finish_state",
    "at_stage",
    "stage_of_step",
    "constraint_error",
    "calc_constraint_error",
    "constrained_accelerations",
    "part_before_forces",
    "accelerate_under_constraints",
    "end_constrained_step",
    "accelerations_of_constrained_step",
    "go_to",
    "error_of_constraints",
    "measure_errors",
    "take_faults",
    "find_rank",
    "run_continuous",
    "know_dense",
    # the balance asks whether it is kept, and how steps are taken
    "keep_balance",
    "keeps_balance",
    "balance_of_motion",
    "balance_step",
    "balance_motion",
    "see_kinetic_energy",
    "power_of_applied_forces",
    "power_of_actuators",
    "has_rows",
    "work_of_rows",
    "add_powers",
}

# parameters that choose, 0 or 1, where others carry numbers
SWITCHES = {"gravity", "is_root", "at_links", "springs", "exact"}
