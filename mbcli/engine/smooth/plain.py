"""Stand-ins for elements that few models have: force elements between links, hinges, transmissions of
actuators, curves.

A model without them is run by kernels in which these are empty, which takes less time to compile. The results
are the same to the last bit: the loops of the kernels that stand behind these names would have no turns.
"""


def add_element_forces(model, data, F, at_links):
    pass


def add_transmission_forces(model, data, h):
    pass


def advance_activations(model, data, h):
    pass


def add_hinge_derivatives(model, data, dtau_dq, dtau_dv):
    pass


def element_energy(model, data):
    return data.V[0, 0]  # of World: zero, in the scalar type of the data


def pose_curvilinear(model, data, b):
    pass


def subspace_curvilinear(model, data, b):
    pass
