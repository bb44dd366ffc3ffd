"""The laws of constraints by the numbers that arrays have for them: those of contact first."""

from importlib import import_module

from mbcli.config.contact_laws import CONTACT_LAWS
from mbcli.engine.fields.contact_fields import LAW_NUMBERS, STUCK
from mbcli.engine.runtime.dispatch import dispatch, require_constants, selects

LAWS = {number: import_module(f"mbcli.engine.contact.laws.{name}") for name, number in LAW_NUMBERS.items()}
OF_CONTACT = {number: LAWS[number] for number in range(len(CONTACT_LAWS))}
IN_PATCHES = OF_CONTACT | {STUCK: LAWS[STUCK]}
CONSTANTS = ("CONVEX", "RELAXES", "HAS_DUAL")

require_constants(OF_CONTACT.values(), CONSTANTS)
CONVEX_LAWS = tuple(name for name in CONTACT_LAWS if LAWS[LAW_NUMBERS[name]].CONVEX)
WITH_DUAL = {number: module for number, module in OF_CONTACT.items() if module.HAS_DUAL}
OF_ROWS = {"kind": "solver.con_kind[i]", "passed": "solver.con_law, i, x, y, z"}


def contact_law(name):
    """The file of a law of contact."""
    return OF_CONTACT[LAW_NUMBERS[name]]


response_of = dispatch(
    globals(),
    "response_of",
    "response",
    LAWS,
    "solver, i, x, y, z",
    """Of constraint i at the velocity (x, y, z) of its rows: impulse, and minus its derivatives xx, yy, zz, xy, xz, yz.

    These are second derivatives of the cost where there is one.
    """,
    **OF_ROWS,
)
cost_of = dispatch(
    globals(),
    "cost_of",
    "cost",
    LAWS,
    "solver, i, x, y, z",
    "Cost of constraint i at the velocity (x, y, z) of its rows, whose slope is minus the impulse; 0 without one.",
    **OF_ROWS,
)
begin_law = dispatch(
    globals(),
    "begin_law",
    "begin",
    OF_CONTACT,
    "solver, laws, c, i, distance, h, softness, velocity",
    """Numbers of the law of contact constraint i from row c of laws, columns PAIR_..., and the surfaces' distance.

    velocity: (x, y, z) along its rows at the start of the step.
    """,
    kind="solver.con_kind[i]",
)
strike_law = dispatch(
    globals(),
    "strike_law",
    "strike",
    OF_CONTACT,
    "solver, i, mu, target, slip, impulse, R, give, h",
    """Numbers of the law of contact constraint i in an impact, as rigid as R, that ends with the separation `target`.

    slip, impulse: what of the slip is left and the normal impulse, about; give: how it gives way across the normal.
    """,
    kind="solver.con_kind[i]",
)
regularize_torsional = dispatch(
    globals(),
    "regularize_torsional",
    "regularize",
    OF_CONTACT,
    "solver, i, least, length",
    "Friction of contact i, which resists turning, gives way in proportion to `least` and to its length over REACH.",
    kind="solver.con_kind[i]",
)
friction_of = dispatch(
    globals(),
    "friction_of",
    "friction",
    WITH_DUAL,
    "solver, i, size, z",
    """Of contact i at the slip |v|_s = size: friction over |v|_s, and the normal impulse's part in the curvature.

    The latter as mu, 0 if friction does not follow the normal impulse, and minus the slope of the normal impulse.
    """,
    kind="solver.con_kind[i]",
    passed="solver.con_law, i, size, z",
)
CONVEX_KINDS = tuple(LAW_NUMBERS[name] for name in CONVEX_LAWS)
is_convex_kind = selects(globals(), "is_convex_kind", CONVEX_KINDS, "Whether the law of contact has a cost.")
is_dual_kind = selects(globals(), "is_dual_kind", WITH_DUAL, "Whether friction of the law has a dual variable.")
