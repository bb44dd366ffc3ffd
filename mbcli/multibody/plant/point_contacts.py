"""Contacts of a state with the forces that the law of continuous plants gives them, whatever kind the plant is."""

from mbcli.multibody.stepping.point_contact import PointContact


def point_contacts(plant, context, *, single_points=False):
    """PointPairContactInfo of each contact point at the state of a context."""
    state = context.state
    state.ready_parameters()
    contact = PointContact(plant, state.model, state.compiled, single_points=single_points)
    state.at_velocities()
    data, attached = state.data, state.data.contact
    before = list(attached)
    try:
        record = contact.record(state)
    finally:
        if state.compiled:
            attached[:] = before
        else:
            data.contact = attached
    return [plant.point_pair(contact, record, i) for i in range(len(record))]
