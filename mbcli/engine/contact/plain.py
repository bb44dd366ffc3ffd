"""Stand-ins for the TAMSI approximation in the solver of the others, which is sooner compiled without it.

A plant with TAMSI has kernels that are not plain. The results of the others are the same to the last bit: what stands
behind these names would not be called.
"""


def keep_start(solver, k):
    pass


def return_to_start(solver):
    pass


def begin_substep(solver, k, parts, part):
    pass


def end_substep(solver, k, parts):
    pass


def halve_substeps(solver, k):
    pass


def end_substeps(solver, k, parts):
    pass


def freeze_friction(solver, k, held):
    pass


def tamsi_direction(solver, k, keep):
    pass


def tamsi_share(solver, k):
    return 1.0


def add_element_rows(model, data, solver, h):
    pass


def take_element_impulses(data, solver, h):
    pass
