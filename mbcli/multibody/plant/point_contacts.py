"""Contacts of a state with the forces that the law of continuous plants gives them, whatever kind the plant is."""

from mbcli.multibody.plant.point_contact import PointContact


def point_contacts(plant, context, *, single_points=False):
    """PointPairContactInfo of each contact point at the state of a context."""
    context._ready_parameters()
    contact = PointContact(plant, context._model, context._compiled, single_points=single_points)
    context._at_velocities()
    data, attached = context._data, context._data.contact
    before = list(attached)
    try:
        record = contact.record(context)
    finally:
        if context._compiled:
            attached[:] = before
        else:
            data.contact = attached
    return [plant._point_pair(contact, record, i) for i in range(len(record))]
