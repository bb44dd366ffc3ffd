"""Contacts of a state with the forces that the law of continuous plants gives them, whatever kind the plant is."""

from mbcli.multibody.contact.point_contact import contacts_of_state
from mbcli.multibody.core.contact_forces import pairs_and_surfaces
from mbcli.multibody.core.contact_results import ContactResults


def point_contacts(plant, context, *, single_points=False):
    """PointPairContactInfo of each contact point at the state of a context."""
    results = contacts_by_law(plant, context, single_points=single_points)
    return [results.point_pair_contact_info(i) for i in range(results.num_point_pair_contacts())]


def contacts_by_law(plant, context, *, single_points=False):
    """ContactResults of the state of a context."""
    contact, record = contacts_of_state(plant, context, single_points=single_points)
    return ContactResults(plant, *pairs_and_surfaces(plant, contact, record))
