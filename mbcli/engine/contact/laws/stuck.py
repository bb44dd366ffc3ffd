"""A contact of sap.py that is assumed to stick, see contact/sticking.py; the numbers of its law are the same."""

from mbcli.engine.contact.laws.without_cost import no_cost
from mbcli.engine.fields.contact_fields import SAP_R_N, SAP_R_T, SAP_V_HAT
from mbcli.engine.runtime.kernel import kernel

cost_stuck = no_cost


@kernel
def response_stuck(law, i, x, y, z):
    """As sap.response_sap(), of what sticks whatever the impulse is."""
    s, n = 1.0 / law[i, SAP_R_T], 1.0 / law[i, SAP_R_N]
    return -s * x, -s * y, n * (law[i, SAP_V_HAT] - z), s, s, n, 0.0, 0.0, 0.0
