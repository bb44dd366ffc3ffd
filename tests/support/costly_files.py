"""Test files that take long, the longest first: two processes that share the files begin with them.

So both end at about the same time. A file belongs here if it takes 8 s of processor time or more with the kernels of
the checkout's library.
"""

COSTLY = (
    "trajectory_fits height_field_motion engine_native_calls spoiled_data engine_scalars document_commands "
    "printed_commands "
    "precompiled claims kernel_ways state_machine cli_simulate growth_of_kinds full_disk untrusted_logs flight joints "
    "constraints_of_many_states step_linearization symbolic elements_at_rest known_truth mutations "
    "functional_mockup_units tetrahedral_meshes questions fuzz_models ends_at_any_moment faces_of_fields log_recovery "
    "constraint_rows deformable_cases "
    "convert_kinds cli_every_command untrusted_models deep_overlaps implicit_elements cli_simulate_each bounce_energy "
    "constraint_derivatives cli_simulate_contact stores docstring_examples log_writer cli_differential "
    "child_processes kept_kernels many_files remote_environments"
)
TURN = {f"test_{name}.py": turn for turn, name in enumerate(COSTLY.split())}


def turn(item):
    """The place of a collected test in the order of files; those that are not listed come last, as they were."""
    return TURN.get(item.path.name, len(TURN))
