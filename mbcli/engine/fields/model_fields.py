"""The arrays of Model, Data, Constraints and ConstraintWork, declared once: shape, kind, unit, meaning.

Allocation, the compiled structs and the documentation all read these tables. Sizes of a model: nbody mobilized bodies
(World is 0; links welded together are one body), nlink links and nframe frames as the plant counts them, nq positions,
nv velocities, nu inputs, ndriven of them of actuators on joints, npd of these with a controller, nspring spring-
dampers, nhinge door hinges, nbushing bushings, ncut joints that close loops and have forces, nelement rows of these,
ncurve curves with nsegment arcs and lines, nlock locked velocities, nlimit limits of positions, nturn of turns of ball
joints, nstop compliant stops, nspeed brakes of velocities, nfriction velocities with dry friction, nbounded of
controllers, limits and dry friction, ntransmission actuators that act through a transmission, nactivation activations
of theirs, npath elements of their paths, nsum coordinates in their sums. Kinds: "real" takes the scalar type, "int" is
int64.

Vectors of Data are expressed in world axes. "About Ro" means about the reference point of the body's tree, the origin
of its root body: spatial quantities about one fixed point need no shift from body to body, and a point that travels
with the robot keeps them accurate far from the world's origin.

Constraints on a model are arrays of their own, since one model may have many sets of them: nconstraint pairs of frames
(or couplings of coordinates) with nrow equations, which the engine numbers in an order of its own. The Jacobian of a
constraint is kept for its nsupport velocities only, those between its bodies and World, the mass matrix and its factor
for pairs of velocities of which one carries the other. Names of fields differ between all tables.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    name: str
    shape: tuple
    kind: str
    unit: str
    doc: str


# columns of curves: first segment, number of segments, 1 where the curve is periodic
CURVE_FIRST, CURVE_COUNT, CURVE_PERIODIC = range(3)
# columns of curve_segments and curve_segment
SEGMENT_START, SEGMENT_RATE, SEGMENT_RADIUS, SEGMENT_STRAIGHT, SEGMENT_COSINE, SEGMENT_SINE = range(6)
SEGMENT_X, SEGMENT_Y = 6, 7
SEGMENT_SIZE = 8

CUT_SLIDES, CUT_TURNS, CUT_DAMPED = range(3)  # cut_turns: about its axis, about any: damped about the one of each row
SCHEME_MIDDLE = 0  # column of step_scheme: whether steps are those of the scheme "midpoint", of second order
SCHEME_APART = 1  # whether some trees keep that order in contact while nothing touches them: some do not fly
SCHEME_SINES = 2  # whether rates of some positions are taken by their sines
MIDDLE_BODIES, MIDDLE_REFUSED = 0, 1  # columns of middle_counts
# columns of transmission_kinds: what the length is, its first element and one past its last in path_... or sum_...,
# how gain and bias follow from length and rate, how the activation follows from the control, its place or -1, whether
# the force is that of the activation after the step, whether a step takes the force at its end
TRANSMISSION_KIND, TRANSMISSION_FIRST, TRANSMISSION_END, TRANSMISSION_GAIN, TRANSMISSION_BIAS = range(5)
TRANSMISSION_DYNAMICS, TRANSMISSION_ACTIVATION, TRANSMISSION_EARLY, TRANSMISSION_IMPLICIT = range(5, 9)
TRANSMISSION_SUM = 9  # the first of the actuators whose sum is limited with it, itself too; -1: none is
TRANSMISSION_BEARS = 10  # velocity along which that sum bears the links without gravity, too; -1: it does not
OF_SUM, OF_PATH, OF_SITE, OF_SITE_IN_SITE, OF_CRANK, OF_CONTACT = range(6)
PATH_POINT, PATH_SPHERE, PATH_CYLINDER, PATH_PULLEY = range(4)
LAW_NONE, LAW_AFFINE, LAW_MUSCLE, LAW_SPRING = range(4)
DYNAMICS_NONE, DYNAMICS_INTEGRATOR, DYNAMICS_FILTER, DYNAMICS_FILTER_EXACT, DYNAMICS_MUSCLE = range(5)
# columns of transmission_numbers: where each group begins; lower and upper bounds stand side by side
NUMBERS_GEAR, NUMBERS_CONTROL, NUMBERS_FORCE, NUMBERS_ACTIVATION, NUMBERS_GAIN, NUMBERS_BIAS = 0, 6, 8, 10, 12, 21
NUMBERS_DYNAMICS, NUMBERS_LENGTHS, NUMBERS_SUM, NUMBERS_SIZE = 30, 33, 35, 37
# columns of pd_constants
PD_GAIN_P, PD_GAIN_D, PD_LIMIT, PD_RATE = range(4)
LIMIT_WEIGHT = 7  # column of limit_soft behind solref and solimp, see collision_fields.py

MODEL_FIELDS = (
    Field("gravity", (3,), "real", "m/s^2", "gravity vector in W"),
    Field("uniform_gravity", (1,), "int", "", "1 where all mass is subject to gravity, else 0"),
    Field("step_scheme", (3,), "int", "", "1 where a discrete step has what column SCHEME_... says"),
    Field("body_parent", ("nbody",), "int", "", "inboard body, smaller than the body's own index"),
    Field("body_root", ("nbody",), "int", "", "root body of the body's tree; 0 for World"),
    Field("body_end", ("nbody",), "int", "", "one past the last of the bodies outboard of it, which follow it"),
    Field("body_joint_type", ("nbody",), "int", "", "number of the inboard joint's type in joints/registry.py"),
    Field("body_has_axis", ("nbody",), "int", "", "whether that type has one axis: HAS_AXIS"),
    Field(
        "body_rotation", ("nbody",), "int", "", "number in rotations/registry.py of what that joint has first, 0: none"
    ),
    Field("body_rotation_nq", ("nbody",), "int", "", "how many positions that is"),
    Field("body_reversed", ("nbody",), "int", "", "1 where the joint's parent is outboard"),
    Field(
        "body_free", ("nbody",), "int", "", "1 where a joint of six velocities joins it to the frame of World itself"
    ),
    Field("body_q", ("nbody",), "int", "", "first position of the inboard joint"),
    Field("body_v", ("nbody",), "int", "", "first velocity of the inboard joint"),
    Field("body_flies", ("nbody",), "int", "", "1 of trees that nothing holds or drives along some way through World"),
    Field("body_nv", ("nbody",), "int", "", "number of velocities of the inboard joint"),
    Field("body_X_PF", ("nbody", 12), "real", "1, m", "pose of the joint's inboard frame in the inboard body"),
    Field("screw_lead", ("nbody",), "real", "m/rad", "translation per rotation of a screw joint"),
    Field("body_inertia", ("nbody", 10), "real", "kg, m, kg m^2", "mass, centre of mass, central inertia, in B"),
    Field(
        "gravitating_mass",
        ("nbody", 4),
        "real",
        "kg, kg m",
        "mass under gravity, its first moment, in B; World: welded",
    ),
    Field("body_curve", ("nbody",), "int", "", "curve that a curvilinear joint follows, else 0"),
    Field("curves", ("ncurve", 3), "int", "", "segments of each curve, columns CURVE_..."),
    Field("curve_period", ("ncurve",), "real", "m", "length of the curve"),
    Field("curve_X_FM0", ("ncurve", 12), "real", "1, m", "pose of M in F at distance 0"),
    Field(
        "curve_segments",
        ("nsegment", 8),
        "real",
        "m, 1/m, 1",
        "arcs and lines, columns SEGMENT_..., see joints/curvilinear.py",
    ),
    Field("dof_body", ("nv",), "int", "", "body that the velocity moves"),
    Field("dof_parent", ("nv",), "int", "", "next velocity towards World, -1 at the root"),
    Field(
        "axis_rotated_by",
        ("nv", 6),
        "int",
        "",
        "1 where a velocity moves the axis of that one of its joint's velocities in World, else 0; CARRIED of its type",
    ),
    Field("dof_armature", ("nv",), "real", "kg m^2 or kg", "reflected inertia of actuators"),
    Field("dof_damping", ("nv",), "real", "N m s or N s/m", "viscous damping"),
    Field("dof_q", ("nv",), "int", "", "position that the velocity of a one-dof joint changes, else 0"),
    Field("dof_stiffness", ("nv",), "real", "N m/rad or N/m", "spring on the one coordinate of a joint, or a ball's"),
    Field("dof_ball", ("nv", 2), "int", "", "of a ball joint: its first position, the velocity's axis; of others -1"),
    Field("dof_nominal", ("nv",), "real", "rad or m", "position where that spring is at rest"),
    Field("limit_dof", ("nlimit",), "int", "", "velocity of the one-dof joint that a limit is of"),
    Field("limit_side", ("nlimit",), "int", "", "1 where the position must not be less, -1 where not more"),
    Field("limit_value", ("nlimit",), "real", "rad or m", "than this"),
    Field(
        "limit_soft",
        ("nlimit", LIMIT_WEIGHT + 1),
        "real",
        "s, 1, rad or m, 1/(kg m^2) or 1/kg",
        "as MuJoCo has it: solref, solimp, what the velocity gives way at the default positions; 0: nearly rigid",
    ),
    Field("limit_speed", ("nlimit",), "real", "rad/s or m/s", "0; of a limit of the velocity against its side: that"),
    Field("turn_dof", ("nturn",), "int", "", "first velocity of a ball joint whose turn has a limit"),
    Field("turn_q", ("nturn",), "int", "", "its first position, of a quaternion"),
    Field("turn_limit", ("nturn",), "real", "rad", "the most that it may be turned, about any axis"),
    Field("stop_dof", ("nstop",), "int", "", "velocity of the one-dof joint that a compliant stop is of"),
    Field("stop_side", ("nstop",), "int", "", "1 where the position is not to be less, -1 where not more"),
    Field("stop_value", ("nstop",), "real", "rad or m", "than this"),
    Field("stop_constants", ("nstop", 2), "real", "N m/rad or N/m, s/rad or s/m", "stiffness, dissipation"),
    Field("speed_dof", ("nspeed",), "int", "", "velocity that a brake is of"),
    Field("speed_limits", ("nspeed", 2), "real", "rad/s or m/s", "beyond which it acts, below and above"),
    Field("speed_damping", ("nspeed",), "real", "N m s or N s/m", "of the velocity beyond"),
    Field("friction_dof", ("nfriction",), "int", "", "velocity of a joint with dry friction"),
    Field("friction_loss", ("nfriction",), "real", "N m or N", "the most that its dry friction can be"),
    Field("locked_dof", ("nlock",), "int", "", "velocities of locked joints"),
    Field("spring_energy", (1,), "real", "J", "energy of springs that strain each other in parallel, at their rest"),
    Field("link_body", ("nlink",), "int", "", "body that a link is part of"),
    Field("link_X_BL", ("nlink", 12), "real", "1, m", "pose of a link in its body"),
    Field("link_inertia", ("nlink", 10), "real", "kg, m, kg m^2", "mass, centre of mass, central inertia, in L"),
    Field("link_weight", ("nlink",), "real", "kg", "mass of a link that is under gravity"),
    Field("frame_body", ("nframe",), "int", "", "body that a frame is fixed to"),
    Field("frame_X_BF", ("nframe", 12), "real", "1, m", "pose of a frame in its body"),
    Field("actuator_dof", ("ndriven",), "int", "", "velocity that an actuator on a joint drives"),
    Field("pd_actuator", ("npd",), "int", "", "actuator that has a controller"),
    Field("pd_constants", ("npd", 4), "real", "N m, N m s, N, 1/s", "gains, effort limit, rate; columns PD_..."),
    Field("transmission_kinds", ("ntransmission", 11), "int", "", "columns TRANSMISSION_..., see transmissions.py"),
    Field("transmission_numbers", ("ntransmission", 37), "real", "of each", "gear, bounds, laws: columns NUMBERS_..."),
    Field("sum_dof", ("nsum",), "int", "", "velocity of a one-dof joint whose position is in a sum"),
    Field("sum_coefficient", ("nsum",), "real", "1 or m/rad", "its factor there"),
    Field("path_kind", ("npath",), "int", "", "PATH_...; of transmissions on sites PATH_POINT"),
    Field("path_body", ("npath",), "int", "", "body that an element of a path is fixed to"),
    Field("path_link", ("npath",), "int", "", "link that feels it there, -1 if a joint does"),
    Field("path_X_B", ("npath", 12), "real", "1, m", "its pose there"),
    Field("path_size", ("npath",), "real", "m or 1", "radius of a solid, divisor of a pulley"),
    Field("path_side", ("npath",), "int", "", "element at whose side a path passes a solid, -1: the nearer one"),
    Field("spring_damper_link", ("nspring", 2), "int", "", "links A and B that a spring-damper connects"),
    Field("spring_damper_point", ("nspring", 6), "real", "m", "point P in the body of A, point Q in the body of B"),
    Field("spring_damper_constants", ("nspring", 3), "real", "m, N/m, N s/m", "free length, stiffness, damping"),
    Field("hinge_dof", ("nhinge",), "int", "", "velocity of the joint that a door hinge acts on"),
    Field(
        "hinge_constants",
        ("nhinge", 8),
        "real",
        "rad, N m, rad/s",
        "spring: zero angle, stiffness; catch: torque, half width; friction: dynamic, static, viscous, threshold",
    ),
    Field("bushing_link", ("nbushing", 2), "int", "", "links that these frames are fixed to"),
    Field("bushing_frame", ("nbushing", 2), "int", "", "frames A and C that a bushing connects"),
    Field(
        "bushing_constants",
        ("nbushing", 12),
        "real",
        "N m, N m s, N/m, N s/m",
        "stiffness and damping of roll, pitch, yaw, then of x, y, z: four triples",
    ),
    Field("cut_link", ("ncut", 2), "int", "", "parent and child of a joint that closes a loop and has forces"),
    Field("cut_frame", ("ncut", 2), "int", "", "frames F and M of it"),
    Field("cut_turns", ("ncut",), "int", "", "CUT_SLIDES, CUT_TURNS or CUT_DAMPED"),
    Field("cut_axis", ("ncut", 6), "real", "1", "its axis and a normal to that, in F and in M"),
    Field("cut_constants", ("ncut", 3), "real", "N m s, N m, rad or N s/m, N/m, m", "damping, stiffness, rest"),
)

# columns of bounded_row: a, k, bounds; vdot and M vdot - r at the point; what is assumed at a bound, else a; the
# diagonal without rows
ROW_OFFSET, ROW_SLOPE, ROW_LOW, ROW_HIGH, ROW_AT_POINT, ROW_ASSUMED, ROW_OWN = range(7)
# columns of element_row: h^2 k, h c, root of s, g, and what take_element_changes() solves for
ELEMENT_STIFFNESS, ELEMENT_DAMPING, ELEMENT_ROOT, ELEMENT_FORCE, ELEMENT_X = range(5)
# elements of contact: addresses of arrays, of what functions are called with, and of these functions
CONTACT_AT_POINTS, CONTACT_AT_SOLVER, CONTACT_AT_COLLISION, CONTACT_AT_SAMPLES, CONTACT_AT_MODEL = range(5)
CONTACT_AT_DATA, CONTACT_AT_LAW, CONTACT_AT_KEEP, CONTACT_AT_FIND, CONTACT_AT_SOLVE = range(5, 10)
CONTACT_AT_SLEEP, CONTACT_AT_KEPT = 10, 11  # what sleeps, and its contacts
CONTACT_AT_EXACT = 12  # of forces that are reported
CONTACT_ADDRESSES = 13
# elements of balance: functions, and what they are called with
BALANCE_AT_STEP_FUNCTION, BALANCE_AT_MOTION_FUNCTION, BALANCE_AT_MODEL, BALANCE_AT_DATA = range(4)
BALANCE_AT_ARRAYS, BALANCE_AT_RUN = 4, 5
# elements of constraint_set: what functions are called with, and those that are called by address
SET_AT_MODEL, SET_AT_DATA, SET_AT_CONSTRAINTS, SET_AT_WORK, SET_AT_SOLVE, SET_AT_PROJECT = range(6)
SET_AT_CROSS, SET_AT_MEASURE, SET_AT_STEP, SET_AT_END, SET_AT_ROWS = range(6, 11)

DATA_FIELDS = (
    Field("q", ("nq",), "real", "rad, m or 1", "positions"),
    Field("v", ("nv",), "real", "rad/s or m/s", "velocities"),
    Field("vdot", ("nv",), "real", "rad/s^2 or m/s^2", "accelerations"),
    Field("tau", ("nv",), "real", "N m or N", "generalized forces"),
    Field("qdot", ("nq",), "real", "", "time derivative of q"),
    Field("sin_q", ("nq",), "real", "1", "sine of each position"),
    Field("cos_q", ("nq",), "real", "1", "cosine of each position"),
    Field("X_FM", ("nbody", 12), "real", "1, m", "pose across joints that have not one axis"),
    Field("curve_segment", ("ncurve", 8), "real", "m, 1/m, 1", "segment of each curve where q is, and its start in q"),
    Field("curve_angle", ("ncurve", 3), "real", "rad, 1", "half the turn since that start, its sine and cosine"),
    Field("X_WB", ("nbody", 12), "real", "1, m", "pose of each body in W"),
    Field("p_RoBo", ("nbody", 3), "real", "m", "origin of each body from Ro"),
    Field("p_RoMo", ("nbody", 3), "real", "m", "origin of M from Ro, for joints that have not one axis"),
    Field("S", ("nv", 6), "real", "1, m", "motion subspace: velocity about Ro per unit of v"),
    Field(
        "inertia",
        ("nbody", 10),
        "real",
        "kg, kg m, kg m^2",
        "mass, first moment, inertia of each body about Ro",
    ),
    Field(
        "composite",
        ("nbody", 10),
        "real",
        "kg, kg m, kg m^2",
        "the same of each body with all outboard of it",
    ),
    Field("V", ("nbody", 6), "real", "rad/s, m/s", "spatial velocity about Ro"),
    Field(
        "A_bias",
        ("nbody", 6),
        "real",
        "rad/s^2, m/s^2",
        "velocity-dependent acceleration across the inboard joint",
    ),
    Field("A", ("nbody", 6), "real", "rad/s^2, m/s^2", "spatial acceleration about the fixed point at Ro"),
    Field("F", ("nbody", 6), "real", "N m, N", "spatial force across the inboard joint about Ro"),
    Field("F_applied", ("nbody", 6), "real", "N m, N", "applied spatial force about Ro"),
    Field("M", ("nv", "nv"), "real", "kg m^2 or kg", "mass matrix"),
    Field(
        "articulated",
        ("nbody", 21),
        "real",
        "kg, kg m, kg m^2",
        "articulated inertia about Ro, upper triangle",
    ),
    Field("F_articulated", ("nbody", 6), "real", "N m, N", "articulated bias force about Ro"),
    Field("U", ("nv", 6), "real", "kg m, kg m^2", "articulated inertia times S"),
    Field("D", ("nv",), "real", "kg m^2 or kg", "articulated inertia along S"),
    Field("tau_residual", ("nv",), "real", "N m or N", "generalized force left to accelerate each velocity"),
    Field("diagonal", ("nv",), "real", "kg m^2 or kg", "what is added to the diagonal of M"),
    Field(
        "in_middle",
        ("nbody",),
        "int",
        "",
        "1 of trees whose step in contact is of second order",
    ),
    Field("middle_counts", (2,), "int", "", "how many these are, and forces that ask for none, columns MIDDLE_..."),
    Field("q_at_start", ("nq",), "real", "rad, m or 1", "positions from which a discrete step goes"),
    Field("v_at_start", ("nv",), "real", "rad/s or m/s", "its velocities"),
    Field("v_terms", ("nv",), "real", "rad/s or m/s", "velocities at which it takes the velocity terms"),
    Field("tau_kept", ("nv",), "real", "N m or N", "tau of a step in contact without controllers and dry friction"),
    Field("diagonal_kept", ("nv",), "real", "kg m^2 or kg", "`diagonal` without them"),
    Field("v_off", ("nv",), "real", "rad/s or m/s", "of those after a step in contact what no exact force explains"),
    Field("u", ("nu",), "real", "N m or N", "actuation, with a controller what is fed forward; then controls"),
    Field("pd_desired", ("npd", 2), "real", "rad, m, rad/s, m/s", "position and velocity that a controller aims at"),
    Field("pd_effort", ("npd",), "real", "N m or N", "what an actuator with a controller gave in the step"),
    Field("pd_carried", ("npd",), "real", "N m or N", "what a controller feeds forward of its earlier efforts"),
    Field("activation", ("nactivation",), "real", "1", "activations of actuators"),
    Field("transmission_length", ("ntransmission",), "real", "m or rad", "length of a transmission, times its gear"),
    Field("transmission_rate", ("ntransmission",), "real", "m/s or rad/s", "its rate"),
    Field("transmission_moment", ("ntransmission", "nv"), "real", "1 or m", "its rate per unit of each velocity"),
    Field("transmission_force", ("ntransmission",), "real", "N or N m", "what the actuator gives"),
    Field(
        "transmission_start", ("ntransmission",), "real", "N or N m", "in a limited sum, without limit, at the start"
    ),
    Field("transmission_share", ("ntransmission",), "real", "1", "of what the step changes in that sum, over the gear"),
    Field("transmission_slope", ("ntransmission", 2), "real", "N s/m, N/m", "how that falls with the rate, the length"),
    Field("vdot_point", ("nv",), "real", "rad/s^2, m/s^2", "the best accelerations so far, see bounded_rows.py"),
    Field("row_residual", (1,), "real", "1", "0, or what another Newton step would change, see limited_dynamics.py"),
    Field("row_side", ("nbounded",), "real", "1", "-1 or 1 where a row is assumed at its lower or upper bound, else 0"),
    Field(
        "bounded_row",
        ("nbounded", 7),
        "real",
        "N m, kg m^2",
        "rows of controllers, limits, dry friction; columns ROW_...",
    ),
    Field("friction_effort", ("nfriction",), "real", "N m or N", "dry friction of a joint in the step"),
    Field("element_row", ("nelement", 5), "real", "of each", "rows of force elements in a step, columns ELEMENT_..."),
    Field("element_J", ("nelement", "nv"), "real", "1, m", "velocity along each row per unit of v"),
    Field("element_y", ("nelement", "nv"), "real", "1/kg", "M^-1 J^T of each, under constraints if there are some"),
    Field("element_system", ("nelement", "nelement"), "real", "1", "1 + R J M^-1 J^T R, see smooth/element_rows.py"),
    Field("psi_dot", ("nv", 6), "real", "rad/s, m/s", "S crossed by the velocity of what it does not carry"),
    Field("psi_ddot", ("nv", 6), "real", "rad/s^2, m/s^2", "the same of accelerations, see dynamics_derivatives.py"),
    Field("A_by_v", ("nv", 6), "real", "rad/s, m/s", "psi_dot and the rate of S"),
    Field(
        "momentum_rate",
        ("nbody", 12),
        "real",
        "kg m^2/s, kg m/s",
        "rate of rotational inertia, angular and linear momentum, of each body with all outboard of it",
    ),
    Field("dtau_dq", ("nv", "nv"), "real", "N m or N", "derivatives of tau, or of vdot, by q along each velocity"),
    Field("dtau_dv", ("nv", "nv"), "real", "N m s or N s", "the same by v"),
    Field("by_position", ("nv", "nq"), "real", "N m or N", "dtau_dq by each position"),
    Field("dvdot_dtau", ("nv", "nv"), "real", "1/(kg m^2) or 1/kg", "inverse of M"),
    Field("energy", (2,), "real", "J", "kinetic and potential energy"),
    Field("X_WL", ("nlink", 12), "real", "1, m", "pose of each link in W"),
    Field("V_WL", ("nlink", 6), "real", "rad/s, m/s", "spatial velocity of each link's origin in W"),
    Field("answer", (12,), "real", "of what is asked", "what the last query of one motion, point or inertia asked for"),
    Field("answer_pose", (1, 4, 3), "real", "1, m", "what the last query of one pose asked for: rows of R, and p"),
    Field("jacobian", (6, "nv"), "real", "1, m", "what the last query of a Jacobian of three or six rows asked for"),
    Field("contact", (13,), "real", "1", "addresses that contact needs, elements CONTACT_AT_..., exact as numbers"),
    Field("balance", (6,), "real", "1", "addresses, elements BALANCE_AT_..., exact as numbers; 0: no balance is kept"),
    Field(
        "constraint_set", (11,), "real", "1", "addresses that constraints need, elements SET_AT_..., exact as numbers"
    ),
)

CONSTRAINT_FIELDS = (
    Field("dof_level", ("nv",), "int", "", "number of velocities between a velocity and World"),
    Field(
        "dof_packed", ("nv",), "int", "", "where the row of a velocity starts in packed_H: one element for each level"
    ),
    Field("constraint_body", ("nconstraint", 2), "int", "", "bodies of frames P and S"),
    Field("constraint_X_BP", ("nconstraint", 12), "real", "1, m", "pose of frame P in its body"),
    Field("constraint_X_BS", ("nconstraint", 12), "real", "1, m", "pose of frame S in its body"),
    Field("constraint_rows", ("nconstraint", 2), "int", "", "first row of a constraint, and one past its last"),
    Field("constraint_support", ("nconstraint", 2), "int", "", "the same of its elements of support_dof"),
    Field("constraint_entry", ("nconstraint",), "int", "", "where G and Y start; for each velocity all rows"),
    Field("support_dof", ("nsupport",), "int", "", "velocities that carry a body of a constraint, ascending"),
    Field("support_parent", ("nsupport",), "int", "", "place of dof_parent in the constraint's part, -1 at the root"),
    Field("support_side", ("nsupport",), "int", "", "1: carries S, -1: carries P, 0: both or neither, 2: G is given"),
    Field("row_number", ("nrow",), "int", "", "the caller's number of a row"),
    Field("row_kind", ("nrow",), "int", "", "constant of constraint_rows.py"),
    Field("row_axis", ("nrow", 6), "real", "1, m", "spatial axis in P, rotational part first"),
    Field("row_second", ("nrow", 3), "real", "1", "axis that stays free, in P, or second axis, in S; by kind"),
    Field("row_constant", ("nrow",), "real", "m, rad or m/rad", "distance, offset or travel per turn; by kind"),
    Field("row_limits", ("nrow", 2), "real", "m or 1", "between which phi may be; both are 0 in an equation"),
    Field("row_spring", ("nrow", 2), "real", "N/m, N s/m", "stiffness (infinite: rigid) and damping beyond these"),
    Field("term_row", ("nterm",), "int", "", "row of a coupling that a term belongs to"),
    Field("term_q", ("nterm",), "int", "", "position that the term multiplies"),
    Field("term_entry", ("nterm",), "int", "", "its place in G"),
    Field("term_coefficient", ("nterm",), "real", "1, m/rad", "its factor"),
    Field("pair_constraint", ("npair", 2), "int", "", "constraints whose supports meet, the later one first"),
    Field("pair_shared", ("npair", 2), "int", "", "first element of shared_place of a pair, and one past its last"),
    Field("shared_place", ("nshared", 2), "int", "", "places of a common velocity in the parts of both"),
    Field("profile_first", ("nrow",), "int", "", "first column that a row of K has"),
    Field("profile_start", ("nrow",), "int", "", "where column 0 of a row of K would be"),
)

# elements of ranks and noted_ranks
RANK_EXPECTED, RANK_FAULTS, RANK_FOUND, RANK_CLEAR, RANK_USUAL, RANK_CROSSING, RANK_REACHED = range(7)

CONSTRAINT_WORK_FIELDS = (
    Field("packed_H", ("npacked",), "real", "kg m^2 or kg", "mass matrix, and then its factor L: H = L^T L"),
    Field("L_inverse", ("nv",), "real", "1/sqrt(kg)", "one over the diagonal of L"),
    Field("bias", ("nv",), "real", "N m or N", "C(q, v) v - tau_g - sum J^T F_applied"),
    Field("reduced", ("nv",), "real", "sqrt(W)", "L^-T of forces, and what becomes of them"),
    Field("dv", ("nv",), "real", "rad/s or m/s", "change of velocities by impulses of the constraints"),
    Field("q_before", ("nq",), "real", "rad, m or 1", "positions before a step of a projection"),
    Field("row_axis_W", ("nrow", 6), "real", "1, m", "axis of each row at the origin of S, in world axes"),
    Field("row_lever", ("nrow", 6), "real", "1, m", "rotational part of that axis about Ro of the tree of S, and of P"),
    Field("G", ("nentry",), "real", "1, m", "constraint Jacobian: velocity error per unit of v"),
    Field("Y", ("nentry",), "real", "1/sqrt(kg)", "L^-T G^T"),
    Field("K", ("nprofile",), "real", "1/kg", "Y^T Y = G H^-1 G^T row by row, and then its Cholesky factor"),
    Field("pivot_inverse", ("nrow",), "real", "sqrt(kg)", "one over the pivots of that; 0: the row depends on others"),
    Field("err", ("nrow",), "real", "m or 1", "position error phi"),
    Field("errd", ("nrow",), "real", "m/s or rad/s", "velocity error G v"),
    Field("gamma", ("nrow",), "real", "m/s^2", "what G vdot is to be, stabilization included"),
    Field("stabilization", ("nrow", 2), "real", "1/s", "Baumgarte's beta of the position error, alpha of its rate"),
    Field("force", ("nrow",), "real", "N or N m", "multipliers lambda: H vdot + bias = tau + G^T lambda"),
    Field("v_plus", ("nrow",), "real", "m/s or rad/s", "velocity error wanted after an impact"),
    Field("impulse", ("nrow",), "real", "N s or N m s", "of an impact: H dv = G^T impulse"),
    Field("row_square", ("nrow",), "real", "1/kg", "squared length of a row of Y^T"),
    Field("row_longest", ("nrow",), "real", "1/kg", "the longest one of its constraint, which measures it"),
    Field("row_scale", ("nrow",), "real", "1/kg", "the same in regular positions, where it is known"),
    Field("row_sine", ("nrow",), "real", "1", "squared sine of a row to those before it, lengths relative"),
    Field("ranks", (7,), "real", "1", "elements RANK_...: rank expected (0: any), faults, rank found, ..."),
    Field("q_start", ("nq",), "real", "rad, m or 1", "positions from which a discrete step goes"),
    Field("v_start", ("nv",), "real", "rad/s or m/s", "its velocities"),
    Field("v_asked", ("nv",), "real", "rad/s or m/s", "velocities of a state whose step is only asked for"),
    Field("stiff_diagonal", ("nv",), "real", "kg m^2 or kg", "`diagonal` of a step that outweighs inertia"),
    Field("q_middle", ("nq",), "real", "rad, m or 1", "positions half a step further on, where its forces are taken"),
    Field("noted_ranks", (7,), "real", "1", "the same before a sample, which leaves no trace"),
    Field("q_center", ("nq",), "real", "rad, m or 1", "positions of a state that is crossed"),
    Field("v_center", ("nv",), "real", "rad/s or m/s", "its velocities"),
    Field("path", ("nq",), "real", "1/s times those", "their rates along the velocities"),
    Field("q_sum", ("nq",), "real", "rad, m or 1", "weighted sum over its neighbours"),
    Field("v_sum", ("nv",), "real", "rad/s or m/s", "the same of velocities"),
    Field("vdot_sum", ("nv",), "real", "rad/s^2 or m/s^2", "the same of accelerations"),
    Field("response_F", ("nbody", 6), "real", "N m, N", "force of a unit test force as it is felt inboard, about Ro"),
    Field("response_A", ("nbody", 6), "real", "rad/s^2, m/s^2", "spatial acceleration by a test force, about Ro"),
    Field("response_residual", ("nv",), "real", "N m or N", "generalized force of a test force left to each velocity"),
)


def shape_of(field, sizes):
    """The numbers behind a declared shape; sizes maps their names to int."""
    return tuple(sizes[n] if isinstance(n, str) else n for n in field.shape)
