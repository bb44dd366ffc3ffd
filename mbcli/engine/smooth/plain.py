"""Stand-ins for elements that few models have: force elements between links, hinges, transmissions of
actuators, curves.

A model without them is run by kernels in which these are empty, which takes less time to compile. The results
are the same to the last bit: the loops of the kernels that stand behind these names would have no turns.
"""


def add_element_forces(model, data, F, at_links):
    pass


def add_path_springs(model, data, F, at_links):
    pass


def path_spring_powers(model, data):
    zero = data.V[0, 0]
    return zero, zero, zero


def go_through_paths(model, data, i, h, F_link, at_links):
    return i


def add_transmission_forces(model, data, h):
    pass


def add_transmissions_on_links(model, data, F_link):
    pass


def advance_activations(model, data, h):
    pass


def add_implicit_hinges(model, data, h):
    pass


def begin_element_rows(model, data, h):
    pass


def add_changes_on_links(model, data, F_link):
    pass


def resist_with_elements(model, data, h):
    pass


def resist_again(model, data):
    pass


def power_of_changes(model, data, v):
    return data.V[0, 0]


def add_element_changes(model, data, tau):
    pass


def add_hinge_derivatives(model, data, dtau_dq, dtau_dv):
    pass


def element_energy(model, data):
    return data.V[0, 0]  # of World: zero, in the scalar type of the data


def pose_curvilinear(model, data, b):
    pass


def subspace_curvilinear(model, data, b):
    pass
