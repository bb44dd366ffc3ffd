"""Torsional and rolling friction of the contact before, in whose law it is: see contact/torsional.py.

Numbers: a length for each row [m].
"""

from mbcli.engine.contact.laws.without_cost import no_cost
from mbcli.engine.runtime.kernel import kernel

cost_torsional = no_cost


@kernel
def response_torsional(law, i, x, y, z):
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
