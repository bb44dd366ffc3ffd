"""Contact and constraints of a discrete step: one convex problem over the velocities at its end.

    minimize over v:  1/2 (v - v*)^T A (v - v*) + sum over constraints of l_i(J_i v)

v* are the velocities without constraints, A the mass matrix with what damping adds over the step (Castro et al. 2022,
arXiv:2110.10107, equation 20). `problem.py` says which arrays describe it: it knows no bodies and no geometry. The
costs l_i are in files of their own, `newton.py` finds the minimum.
"""


def stand_ins(constrained):
    """What stands in for kernels of other plants where there is contact: {kernel: kernel}.

    constrained: whether constraints act too.
    """
    from mbcli.engine import balance, step
    from mbcli.engine.contact import contact_step, equality_rows, row_work

    own = step.start_step, step.end_step, step.accelerations_of_step  # in plants with constraints too
    kernels = dict(zip(own, own, strict=True))
    kernels |= {step.step_dynamics: contact_step.contact_dynamics, step.step_fault: contact_step.contact_fault}
    kernels |= {balance.has_rows: row_work.has_contact_rows, balance.work_of_rows: row_work.work_of_contact_rows}
    if constrained:
        kernels |= {
            contact_step.has_constraints: equality_rows.holds_constraints,
            contact_step.add_constraint_rows: equality_rows.add_equality_rows,
            contact_step.set_constraint_laws: equality_rows.set_equality_laws,
            contact_step.take_constraint_forces: equality_rows.take_equality_forces,
        }
    return kernels
