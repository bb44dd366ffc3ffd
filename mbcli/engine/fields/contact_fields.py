"""The arrays of a contact problem, of its solution and of the contacts of a run, declared once.

Sizes: ntree kinematic trees that can move, nv velocities, nslot slots of velocities (each tree starts on a multiple of
eight, what a vector register holds), ncon constraints at most, npiece pieces of their Jacobians at most, nblock blocks
and nvalue numbers of the factorized Hessian at most, nmass numbers of the trees' mass matrices, npath pieces of the
paths from bodies to World. A constraint has three rows where it is a contact (two tangents, then the normal), one
otherwise. Samples: nrow rows, nrow1 one more, nkept contacts in all of them at most. Contacts are points, or faces of
contact surfaces with ncorner corners at most.
"""

from mbcli.config.contact_laws import CONTACT_LAWS
from mbcli.engine.fields.law_names import LAW_NAMES
from mbcli.engine.fields.model_fields import Field

# columns of law: of a pair of surfaces
PAIR_STIFFNESS, PAIR_DISSIPATION, PAIR_RELAXATION, PAIR_FRICTION, PAIR_STATIC = range(5)
# and of points alone: by which approach, in a step and at all, they strike, see contact/impacts.py
PAIR_RESTITUTION, PAIR_THRESHOLD, PAIR_FAR = 5, 6, 7
# of points under the law "mujoco": solref, the impedance at their depth and the last one, what the bodies give way at
# the default positions [1/kg], impratio, negative of a pyramidal cone, and the direction of two of its edges along the
# tangents
PAIR_TIME, PAIR_RATIO, PAIR_IMPEDANCE, PAIR_LAST_IMPEDANCE, PAIR_WEIGHT, PAIR_IMPRATIO = range(8, 14)
PAIR_EDGE_X, PAIR_EDGE_Y = 14, 15
FACE_CORNERS = 8  # room for corners, per contact
# columns of grain
GRAIN_TANGENT, GRAIN_ALONG, GRAIN_ACROSS = 0, 3, 4
# columns of face
FACE_AREA, FACE_PRESSURE, FACE_GRADIENT, FACE_GRADIENT_A, FACE_GRADIENT_B, FACE_MOMENT = 0, 1, 2, 3, 6, 9

# where surfaces touch: what collision detection gives, whatever the surfaces are made of
POINT_FIELDS = (
    Field("count", (1,), "int", "", "number of points"),
    Field("body", ("npoint", 2), "int", "", "bodies A and B"),
    Field("geometry", ("npoint", 2), "int", "", "geometries of A and B"),
    Field("position", ("npoint", 3), "real", "m", "contact point in W"),
    Field("normal", ("npoint", 3), "real", "1", "unit vector from B into A, in W"),
    Field("onto_B", ("npoint", 3), "real", "m", "from there to the point of B that it will meet, 0 where they touch"),
    Field("distance", ("npoint",), "real", "m", "of the surfaces along the normal, negative where they overlap"),
    Field(
        "law",
        ("npoint", 16),
        "real",
        "N/m, s/m, s, 1, m/s, m, ...",
        "of the pair: stiffness, dissipation, relaxation, friction when sliding, when sticking; of points: "
        "restitution, speed of approach from which on they bounce, approach in a step from which on they strike, or 0; "
        "from PAIR_TIME on what the law mujoco has",
    ),
    Field(
        "grain",
        ("npoint", 5),
        "real",
        "1",
        "direction of friction in the plane of contact, in W, unless it is the same in all; shares of the coefficients "
        "of law along and across it, of which the larger is 1",
    ),
    Field("torsional", ("npoint", 2), "real", "m", "of points, not of faces: torsional and rolling friction"),
    Field(
        "face",
        ("npoint", 12),
        "real",
        "m^2, Pa, Pa/m, N m",
        "area (0: a point), pressure at C, its slope along the normal, gradients of A and of B in W, moment on A at C",
    ),
    Field("corner_start", ("npoint1",), "int", "", "first corner of each contact's face, then the end"),
    Field(
        "corners", ("ncorner", 4), "real", "m, Pa", "in W, counterclockwise about the normal, and the pressure there"
    ),
)

# columns of places and laws of the constraints of elastic bodies, see elastic_rows.py: normal, point in W, and of fixed
# vertices the error of their place; a stiffness of 0 marks these
COUPLING_NORMAL, COUPLING_POINT, COUPLING_ERROR, COUPLING_NUMBERS = 0, 3, 6, 9
(
    COUPLING_STIFFNESS,
    COUPLING_DISSIPATION,
    COUPLING_RELAXATION,
    COUPLING_FRICTION,
    COUPLING_DISTANCE,
    COUPLING_LAW_NUMBERS,
) = range(6)
# columns of con_place
PLACE_TANGENT, PLACE_ACROSS, PLACE_NORMAL, PLACE_ARM = 0, 3, 6, 9
# laws of constraints, files of contact/laws: of contacts, which have three rows; of one row; of one to three rows; of
# the torsional friction of the contact before; of a contact of SAP that is assumed to stick
LAW_NUMBERS = {name: n for n, name in enumerate(LAW_NAMES)}
SAP, LAGGED, TAMSI = LAW_NUMBERS["sap"], LAW_NUMBERS["lagged"], LAW_NUMBERS["tamsi"]  # of sticking.py and tamsi.py
BOUNDED, EQUALITY, TORSIONAL, STUCK = range(len(CONTACT_LAWS), len(LAW_NUMBERS))
HAS_TORSIONAL = 1  # in con_patch_size: of a contact with torsional friction, see torsional.py
# columns of con_law, by kinds: see sap.py, mujoco.py, hunt_crossley.py (for lagged, similar and tamsi), bounded.py in
# contact/laws
SAP_MU, SAP_R_T, SAP_R_N, SAP_V_HAT = range(4)
SOFT_V_HAT_X, SOFT_V_HAT_Y, SOFT_EDGES, SOFT_EDGE_X, SOFT_EDGE_Y = range(4, 9)
HUNT_CROSSLEY_MU, HUNT_CROSSLEY_STIFFNESS, HUNT_CROSSLEY_DISSIPATION, HUNT_CROSSLEY_PENETRATION = range(4)
HUNT_CROSSLEY_V_S, HUNT_CROSSLEY_STEP, HUNT_CROSSLEY_FRICTION = range(4, 7)
HUNT_CROSSLEY_PENETRATION_AT_START = 7  # of parts of a step with TAMSI
HUNT_CROSSLEY_STRIKES = 8  # 1 of what strikes, see strike_hunt_crossley()
HUNT_CROSSLEY_STOPPED = 7  # of begin_hunt_crossley(): the slip that friction stops in a step, about
BOUNDED_R, BOUNDED_V_HAT, BOUNDED_LOW, BOUNDED_HIGH, BOUNDED_SIGN = range(5)
KEPT_CHANGE = 3  # the first of three columns of con_kept: of force elements
TORSIONAL_SCALE = 0  # the first of three, one for each row of a TORSIONAL [m]
# rows of vectors
VECTOR_VELOCITY, VECTOR_FREE, VECTOR_GRADIENT, VECTOR_DIRECTION, VECTOR_MOMENTUM, VECTOR_MOMENTUM_STEP = range(6)
VECTOR_DIAGONAL, VECTOR_INVERSE_DIAGONAL, VECTOR_START, VECTOR_GAIN, VECTOR_UNTOUCHED = range(6, 11)
VECTORS = 11
# elements of counts of a problem; UNSOLVED is the island that has no solution, ELASTIC_BODIES their number in the plant
COUNT_CONSTRAINTS, COUNT_PIECES, COUNT_ISLANDS, COUNT_STATUS, COUNT_ITERATIONS, COUNT_MOST_ITERATIONS_SEEN = range(6)
COUNT_PLACES, COUNT_BLOCKS, COUNT_VALUES, COUNT_PATTERN, COUNT_UNSOLVED, COUNT_ELASTIC_BODIES = range(6, 12)
COUNT_BOUNCES, COUNT_STRIKES, COUNT_ARRIVALS = 12, 13, 14  # with friction; all impacts; trees of arrivals.py
# values of COUNT_STATUS
PROBLEM_SOLVED, PROBLEM_TOO_MANY_CONSTRAINTS, PROBLEM_TOO_MANY_BLOCKS, PROBLEM_NOT_CONVERGED = range(4)
PROBLEM_SINGULAR, PROBLEM_TOO_MANY_POINTS = 4, 5
# elements of settings of a problem
SETTING_TOLERANCE, SETTING_MOST_ITERATIONS, SETTING_RESIDUAL, SETTING_NEAR_RIGID = range(4)
SETTING_STICTION, SETTING_APPROXIMATION, SETTING_FRICTION_SOFTNESS = 4, 5, 6
# elements of statistics; iterations of a problem are those of the island that took most
STATISTIC_PROBLEMS, STATISTIC_ALL_ITERATIONS, STATISTIC_MOST_ITERATIONS, STATISTIC_LARGEST_RESIDUAL = range(4)
STATISTIC_ALL_CONTACTS, STATISTIC_MOST_CONTACTS = 4, 5
STATISTIC_LAST_ITERATIONS, STATISTIC_LAST_CONTACTS = 6, 7  # what the last problem added

SOLVER_FIELDS = (
    # what never changes
    Field("tree_v", ("ntree1",), "int", "", "first velocity of each tree, in the end nv"),
    Field("tree_slot", ("ntree1",), "int", "", "first slot of each tree, in the end nslot; a multiple of 8"),
    Field("dof_tree", ("nv",), "int", "", "tree of each velocity"),
    Field("dof_slot", ("nv",), "int", "", "slot of each velocity"),
    Field("dof_row", ("nv",), "int", "", "where row d of the tree's matrix would have column 0 in mass"),
    Field("body_path", ("nbody1",), "int", "", "first piece of each body's path, in the end npath"),
    Field("path_vector", ("npath",), "int", "", "which eight slots a piece of a path is about, the outermost first"),
    Field("settings", (8,), "real", "", "elements SETTING_..."),
    # the problem
    Field("counts", (16,), "int", "", "elements COUNT_..."),
    Field("statistics", (8,), "real", "", "of all problems so far, elements STATISTIC_..."),
    Field("con_kind", ("ncon",), "int", "", "law of each constraint, a number of LAW_NUMBERS"),
    Field("con_source", ("ncon",), "int", "", "what it comes from: a contact point, a limit, ..."),
    Field(
        "con_patch_size",
        ("ncon",),
        "int",
        "",
        "0: alone; HAS_TORSIONAL; n: first of a patch of n contacts; -k: k-th after it",
    ),
    Field("con_place", ("ncon", 12), "real", "1, m", "of a contact in a patch: its axes, its arm from P, in W"),
    Field("con_response", ("ncon", 21), "real", "1/kg, 1/(kg m), 1/(kg m^2)", "of a patch: see patches.py"),
    Field("con_slot", ("ncon",), "int", "", "slot of the velocity that is its only row, and it has no pieces; else -1"),
    Field("con_first", ("ncon1",), "int", "", "first piece of each constraint's Jacobian, in the end their number"),
    Field("con_split", ("ncon",), "int", "", "first piece that belongs to the second tree"),
    Field("con_tree", ("ncon", 2), "int", "", "trees that it touches, -1 for none"),
    Field("con_law", ("ncon", 9), "real", "", "numbers of the law, columns by kind"),
    Field("piece_vector", ("npiece",), "int", "", "which eight slots a piece of a Jacobian is about"),
    # the solution
    Field("con_v", ("ncon", 3), "real", "m/s", "J v"),
    Field("con_impulse", ("ncon", 3), "real", "N s", "impulse along the rows"),
    # work of the solver
    Field("con_hessian", ("ncon", 6), "real", "kg", "of contacts in patches: minus derivatives of con_impulse"),
    Field("con_dual", ("ncon", 2), "real", "1", "of friction along the tangents, at most 1: see dual_friction.py"),
    Field("con_sum", ("ncon", 3), "real", "N s", "impulses of the parts of a step so far, with TAMSI"),
    Field("con_kept", ("ncon", 6), "real", "N s, N", "con_impulse, and changes of elements, of the solver"),
    Field("con_bounce", ("ncon",), "real", "m/s", "impact with friction: separation; see bounce_energy.py"),
    Field("con_dv", ("ncon", 3), "real", "m/s", "J times the direction of a Newton step"),
    Field("con_block", ("ncon",), "int", "", "where the block of its two trees starts in values"),
    Field("con_order", ("ncon",), "int", "", "constraints sorted by islands"),
    Field("con_pattern", ("ncon", 2), "int", "", "con_tree of the problem whose islands and blocks are known"),
    Field("tree_island", ("ntree",), "int", "", "island of each tree, -1 where no constraint touches it"),
    Field("tree_arrival", ("ntree",), "real", "1", "share of the step before its impact; see arrivals.py"),
    Field("tree_partner", ("ntree",), "int", "", "the only tree that it touches; see arrivals.py"),
    Field("tree_position", ("ntree",), "int", "", "place of a tree in the order of elimination"),
    Field("order", ("ntree",), "int", "", "trees by islands in the order of elimination"),
    Field("island_tree", ("ntree1",), "int", "", "first place in that order of each island"),
    Field("island_con", ("ntree1",), "int", "", "first place in con_order of each island"),
    Field("panel_start", ("ntree1",), "int", "", "where the rows of each eliminated tree start in values"),
    Field("panel_width", ("ntree",), "int", "", "columns of these rows"),
    Field("panel_block", ("ntree1",), "int", "", "first block of each eliminated tree"),
    Field("block_place", ("nblock",), "int", "", "place of the tree of a block in the order"),
    Field("block_column", ("nblock",), "int", "", "first column of a block in its panel"),
    Field("block_size", ("nblock",), "int", "", "number of velocities of its tree"),
    Field("block_slot", ("nblock",), "int", "", "first slot of its tree"),
    Field("neighbors", ("nword",), "int", "", "bits: which trees of an island touch which"),
    Field("degree", ("ntree",), "int", "", "number of neighbors of a tree that is not eliminated"),
    Field("pivot", ("nv",), "real", "", "of each velocity in the factorization, inverse"),
    Field("exchange", ("nv",), "int", "", "row of its tree that was exchanged with its own, with TAMSI"),
    # memory that is read both number by number and, under the second name, eight at a time
    Field("vectors", ("nvector", "nslot"), "real", "", "velocities and momenta by slots, rows VECTOR_..."),
    Field("gathered", ("nslot",), "real", "", "pieces of a row of vectors, one behind the other"),
    Field("mass", ("nmass",), "real", "kg m^2 or kg", "A, dense by trees, rows padded to slots"),
    Field("axes", ("naxis", "nslot"), "real", "1, m", "S by slots: rotation, then translation at Ro; 0 where locked"),
    Field("path_mask", ("nmask",), "real", "", "1 for the slots of a piece that move the body, else 0"),
    Field("jacobian", ("njacobian",), "real", "1, m", "pieces: eight columns of three rows each"),
    Field("values", ("nvalue",), "real", "", "the Hessian, then its factor L, H = L^T L, by panels; block_lu.py"),
    Field("vectors8", ("nvector", "nslot8"), "lanes", "", "vectors"),
    Field("gathered8", ("nslot8",), "lanes", "", "gathered"),
    Field("mass8", ("nmass8",), "lanes", "", "mass"),
    Field("axes8", ("naxis", "nslot8"), "lanes", "", "axes"),
    Field("path_mask8", ("nmask8",), "lanes", "", "path_mask"),
    Field("jacobian8", ("njacobian8",), "lanes", "", "jacobian"),
    Field("values8", ("nvalue8",), "lanes", "", "values"),
)

SAMPLES_LACKING = 1  # element of counts of the samples: what had no room, 0: nothing
SAMPLES_NO_ROW = 4  # in that count: no room in the samples; smaller bits are those of the search for contact
# elements of settings of the samples
SAMPLES_STICTION, SAMPLES_STEP, SAMPLES_FRICTION_POWER = range(3)

SAMPLE_FIELDS = (
    Field("counts", (2,), "int", "", "contacts, SAMPLES_LACKING"),
    Field(
        "settings",
        (3,),
        "real",
        "m/s, s, W",
        "stiction tolerance of the law, step that forces are the mean of, power of friction in the forces set last",
    ),
    Field("offset", ("nrow1",), "int", "", "first contact of each row, then the end of the last"),
    Field("iterations", ("nrow",), "int", "", "of the solver in the problem of the row's step"),
    Field("residual", ("nrow",), "real", "1", "of that problem, relative"),
    Field("geometry", ("nkept", 2), "int", "", "solids A and B"),
    Field("position", ("nkept", 3), "real", "m", "contact point C in W"),
    Field("normal", ("nkept", 3), "real", "1", "unit vector from B into A, in W"),
    Field("distance", ("nkept",), "real", "m", "of the surfaces along the normal, negative where they overlap"),
    Field("stiffness", ("nkept",), "real", "N/m", "of the contact"),
    Field("force", ("nkept", 3), "real", "N", "on A at C, in W"),
    Field("separation", ("nkept",), "real", "m/s", "speed along the normal, positive where the surfaces part"),
    Field("slip", ("nkept",), "real", "m/s", "speed across it"),
    Field("face", ("nkept", 12), "real", "m^2, Pa, Pa/m", "as of contact points"),
    Field("corner_start", ("nkept1",), "int", "", "as of contact points"),
    Field("corners", ("ncorner", 4), "real", "m, Pa", "as of contact points"),
)
