"""How an EvaluatedState gets ready to meet contact: its arrays are made, and led to by its data."""

from mbcli.engine.fields.model_fields import TRANSMISSION_IMPLICIT
from mbcli.multibody.scalars import FLOAT


def allocate_contact(state):
    """Makes the arrays of contact, if solids can touch or steps are contact problems, and chooses the kernels."""
    state.ready_parameters()
    if state.scalar is not FLOAT:
        state.plant.refuse_contact(state)
    elif state.contact is None or not state.contact.is_current(state.model):
        _make_contact(state)
    if state.plant.is_discrete():
        if state.contact is not None:
            from mbcli.multibody.compilation.constraint_rows import require_two_trees  # late: many meet no contact

            require_two_trees(state.plant, state.parameters)
        state.ready_constraints(in_steps=True)


def prepare_contact(state, failed=False):
    """Makes contact in steps and accelerations computable; if it failed, with more room.

    Raises NumericalError if that cannot help.
    """
    if failed:
        state.contact.make_room()
    allocate_contact(state)
    if state.contact is not None:
        state.contact.begin_step(state)
        state.contact.attach(state)


def contact_failed(state):
    """Whether the last step has to be done again after prepare_contact(failed=True)."""
    return state.contact is not None and state.contact.failed()


def _make_contact(state):
    plant, earlier = state.plant, state.contact
    state.forget_addresses("contact")
    elastic = bool(plant.elements.deformable_bodies)
    if not (elastic or _solves_problems(state) or plant.meets_contact()):
        if earlier is not None:  # parameters or filters were others: steps are what they would be without these
            state.contact = None
            state.load_kernels()
        return
    if not plant.is_discrete():
        from mbcli.multibody.contact.point_contact import PointContact  # late: many plants meet no contact

        state.contact = PointContact(plant, state.model, state.compiled, earlier=earlier)
        return
    if earlier is None:
        state.load_kernels(contact=True)
    state.contact = _kind_of_step(elastic)(plant, state.model, state.compiled, earlier=earlier)


def _kind_of_step(elastic):
    if not elastic:
        from mbcli.multibody.contact.step_contact import StepContact

        return StepContact
    from mbcli.multibody.contact.elastic_step import ElasticStep  # late: it imports SciPy

    return ElasticStep


def _solves_problems(state):
    """Whether steps are contact problems without contact too: if a constraint is not an equation, an actuator acts at
    their end, or a turn has a limit."""
    active = state.constraints
    if not state.plant.is_discrete():
        return False
    if state.model.transmission_kinds[:, TRANSMISSION_IMPLICIT].any() or state.model.turn_dof.size:
        return True
    if active is None or active.fault is not None:
        return False
    return not active.are_equations or _has_drakes_rows(state.plant)


def _has_drakes_rows(plant):
    """Whether constraints are rows of contact problems in any step, as in Drake's scheme; it knows no loops."""
    settings = plant.settings
    return settings.step_scheme == "drake" and settings.is_convex() and not plant.elements.loop_joints
