"""The arrays of a run, declared once: of its steps, its actuation, its samples and its energy balance.

The integration of a continuous plant has ny numbers of a state, nstage stages of its method, nweight weights of the
error estimate, nwide numbers in an implicit method's Jacobian (else 0), nsystem in all its stages. The actuation of a
run changes nchange times; its samples have room for nsample rows, nvdot of them with accelerations, nload with where
steps took their forces and what acted there (nkept is ny then, else 0). Names of fields differ between these tables and
those of model_fields.py. There are nworld worlds that step together, with ninput rows
of actuation each, room for nstored samples, and npush forces on links of some of them.
"""

from mbcli.engine.fields.model_fields import Field

# schemes of an integration
EXPLICIT, SEMI_EXPLICIT, IMPLICIT = range(3)
# elements of clock: time, the next step to try, steps taken, steps refused; whether a step is taken that samples are
# still missing of, the time of its end, the next step after it, whether its dense output is known, where y_middle is in
# it, or 0; whether J is that of y
CLOCK_TIME, CLOCK_NEXT_STEP, CLOCK_STEPS, CLOCK_REFUSED = range(4)
CLOCK_PENDING, CLOCK_STEP_END, CLOCK_FOLLOWING, CLOCK_DENSE_KNOWN, CLOCK_MIDDLE, CLOCK_JACOBIAN_KNOWN = range(4, 10)

INTEGRATION_FIELDS = (
    Field("method_A", ("nstage", "nstage"), "real", "1", "table of the Runge-Kutta method"),
    Field("method_b", ("nstage",), "real", "1", "its weights"),
    Field("method_error", ("nweight",), "real", "1", "weights of its error estimate"),
    Field("method_dense", ("nstage",), "real", "1", "weights of what its dense output adds to a cubic"),
    Field("scheme", (1,), "int", "", "EXPLICIT, SEMI_EXPLICIT or IMPLICIT"),
    Field("accuracy", (1,), "real", "1", "error allowed in a step, 0 without error control"),
    Field("error_order", (1,), "int", "", "order of its estimate, 0 where there is none"),
    Field("constraint_tolerance", (1,), "real", "m or 1", "norm that position errors of constraints may have"),
    Field("largest_step", (1,), "real", "s", "length that no step exceeds"),
    Field("end_time", (1,), "real", "s", "end of the run"),
    Field("clock", (10,), "real", "s or 1", "where the integration is, elements CLOCK_..."),
    Field("y", ("ny",), "real", "of q and v", "[q; v] where a step starts"),
    Field("y_end", ("ny",), "real", "of q and v", "where it ends"),
    Field("y_stage", ("ny",), "real", "of q and v", "where something is evaluated"),
    Field("y_middle", ("ny",), "real", "of q and v", "what an implicit step knows of a time in between"),
    Field("y_whole", ("ny",), "real", "of q and v", "the end of a step that is also taken as two halves"),
    Field("rates", ("nrate", "ny"), "real", "of q and v, 1/s", "derivatives: of the stages, and of an end"),
    Field("dense", (5, "ny"), "real", "of q and v", "polynomial of the part of the step that is done"),
    Field("J", ("nwide", "nwide"), "real", "1/s", "derivatives of the derivatives by y"),
    Field("system", ("nsystem", "nsystem"), "real", "1", "matrix of all implicit stages, and its factors"),
    Field("system_pivots", ("nsystem",), "int", "", "rows that were exchanged"),
    Field("increments", (2, "nsystem"), "real", "of q and v", "stages less y, one after another; and a correction"),
    Field("filter", ("nwide", "nwide"), "real", "1", "matrix that the error estimate is solved through"),
    Field("filter_pivots", ("nwide",), "int", "", "rows that were exchanged"),
    Field("kept", ("nkept",), "real", "s, of q and v", "whether, time, next step and y: where a longer run goes on"),
)

STEPPING_FIELDS = (
    Field("next_step", (1,), "int", "", "number of the step that comes next; its time is that times its length"),
    Field("last_step", (1,), "int", "", "number of the step at which the run ends"),
    Field("sampled_step", (1,), "int", "", "steps from one sample to the next"),
    Field("step_length", (1,), "real", "s", "length of every step"),
    Field("implicit_damping", (1,), "real", "1", "1 where joint damping acts by the new velocities, else 0"),
    Field("state_before", ("ny",), "real", "of q and v", "[q; v] before the step that was tried last"),
    Field("tick_steps", (2,), "int", "", "steps between calls of a controller, 0: none; the step of its last call"),
    Field("tick_calls", (2,), "real", "1", "addresses of the controller and of what it works with, exact as numbers"),
)

ACTUATION_FIELDS = (
    Field("actuation_times", ("nchange",), "real", "s", "when the actuation changes, increasing"),
    Field("actuation_values", ("nchange", "nu"), "real", "N m or N", "the actuation from each of these times on"),
    Field("actuation_row", (1,), "int", "", "the row of these that holds"),
    Field("actuation", ("nu",), "real", "N m or N", "the actuation at the time of the run; before the first time 0"),
    Field("push_link", ("npush",), "int", "", "link that a force acts on"),
    Field("push_point", ("npush", 3), "real", "m", "where, in the frame of the link"),
    Field("push_force", ("npush", 6), "real", "N m, N", "moment about the point and force, in World"),
    Field("push_times", ("npush", 2), "real", "s", "from when to when it acts"),
)

RECORDING_FIELDS = (
    Field("rows_written", (1,), "int", "", "samples that are written; whoever takes them sets it to 0"),
    Field("times_wanted", (1,), "int", "", "number of wanted_times"),
    Field("next_wanted", (1,), "int", "", "which of them comes next"),
    Field("wanted_times", ("nsample",), "real", "s", "when samples of a continuous plant are wanted, increasing"),
    Field("recorded_time", ("nsample",), "real", "s", "time of each sample"),
    Field("recorded_q", ("nsample", "nq"), "real", "rad, m or 1", "its positions"),
    Field("recorded_v", ("nsample", "nv"), "real", "rad/s or m/s", "its velocities"),
    Field("recorded_energy", ("nsample", 3), "real", "J, m or 1", "kinetic, potential; norm of constraints' errors"),
    Field("recorded_u", ("nsample", "nu"), "real", "N m or N", "its actuation"),
    Field(
        "keeps_efforts", (1,), "int", "", "whether samples of a discrete plant have the efforts of the step from them"
    ),
    Field("recorded_effort", ("nsample", "nu"), "real", "N m or N", "these efforts, with controllers and limits"),
    Field("recorded_activation", ("nsample", "nactivation"), "real", "1", "activations of actuators"),
    Field("recorded_desired", ("nsample", "npd", 2), "real", "rad, m, rad/s, m/s", "what controllers aim at"),
    Field("recorded_vdot", ("nvdot", "nv"), "real", "rad/s^2 or m/s^2", "its accelerations, where they are kept"),
    Field("rates_at_sample", ("ny",), "real", "of q and v, 1/s", "[qdot; vdot] at a sample of a continuous plant"),
    Field("load_calls", (5,), "real", "1", "addresses, elements LOAD_AT_..., exact as numbers; 0: loads are not kept"),
    Field("load_step", (1,), "real", "s", "length of the step whose loads are kept"),
    Field("load_start", ("nkept",), "real", "of q and v", "[q; v] where it starts"),
    Field("load_end", ("nkept",), "real", "of q and v", "[q; v] where it ends"),
    Field("recorded_load_q", ("nload", "nq"), "real", "rad, m or 1", "positions at which it took its forces"),
    Field("recorded_load_v", ("nload", "nv"), "real", "rad/s or m/s", "velocities of its velocity terms"),
    Field(
        "recorded_loads",
        ("nload", "nlink", 6),
        "real",
        "N m, N",
        "on links, but for weight, contact, rows of constraints",
    ),
    Field("recorded_wrench", ("nload", "nrow", 6), "real", "N m, N", "of rows of constraints on the successor at So"),
)
# elements of load_calls: the function, the arrays that it takes
LOAD_AT_FUNCTION, LOAD_AT_MODEL, LOAD_AT_DATA, LOAD_AT_RECORDING, LOAD_AT_ACTUATION = range(5)

# elements of world_counts: steps from one sample to the next. Of world_settings: length of a step [s], whether joint
# damping acts by the new velocities. Of world_calls, for worlds in lanes: advance_worlds() and the Data that it takes;
# for all: the steps that are left to a call, after which it pauses, and the step that the next one goes on with, or 0
WORLDS_SAMPLED_STEP = 0
WORLDS_STEP_LENGTH, WORLDS_IMPLICIT_DAMPING = range(2)
WORLDS_AT_ADVANCE, WORLDS_AT_DATA, WORLDS_STEPS_LEFT, WORLDS_PAUSED_STEP = range(4)

WORKS = 11  # causes of work, below

WORLD_FIELDS = (
    Field("world_q", ("nworld", "nq"), "real", "rad, m or 1", "positions of each world, after its last good step"),
    Field("world_v", ("nworld", "nv"), "real", "rad/s or m/s", "velocities of each world, after its last good step"),
    Field("world_u", ("nworld", "ninput", "nu"), "real", "N m or N", "actuation step by step; the last row holds on"),
    Field("world_desired", ("nworld", "npd", 2), "real", "rad, m, rad/s, m/s", "what controllers aim at"),
    Field("world_carried", ("nworld", "npd"), "real", "N m or N", "what controllers feed forward of earlier efforts"),
    Field("world_activation", ("nworld", "nactivation"), "real", "1", "activations of actuators"),
    Field("world_began", ("nworld",), "int", "", "the step of each world with which this call begins, for its time"),
    Field(
        "world_pushes", ("npushed",), "int", "", "world k has the pushes from element k to k + 1; empty: there are none"
    ),
    Field("world_push_link", ("npush",), "int", "", "link that a force acts on"),
    Field("world_push_point", ("npush", 3), "real", "m", "where, in the frame of the link"),
    Field("world_push_force", ("npush", 6), "real", "N m, N", "moment about the point and force, in World"),
    Field("world_push_times", ("npush", 2), "real", "s", "from when to when it acts"),
    Field(
        "world_effort", ("nefforts", "nu"), "real", "N m or N", "of each world in its last step, where they are kept"
    ),
    Field(
        "world_places",
        ("nefforts", 2, "ny"),
        "real",
        "of q and v",
        "where that step takes its forces: q and velocities of velocity terms; at its end q, and v less v_off",
    ),
    Field(
        "world_wrench",
        ("nwrenches", "nsolid", 6),
        "real",
        "N m, N",
        "moment about World's origin and force of the contacts of each solid in that step, where they are kept",
    ),
    Field("world_work", ("nbalance", WORKS), "real", "J", "work of each cause since the start, where it is kept"),
    Field("world_kinetic", ("nbalance", 3), "real", "1 or J", "whether a state was seen, least and largest energy"),
    Field("world_samples", ("nworld", "nstored", "ny"), "real", "of q and v", "[q; v] after each sampled step"),
    Field("world_status", ("nworld",), "int", "", "RUNNING, or why a world stopped"),
    Field("world_steps", ("nworld",), "int", "", "steps that each world has taken in this call"),
    Field("world_until", ("nworld",), "int", "", "steps that it is to take"),
    Field("world_counts", (1,), "int", "", "elements WORLDS_..."),
    Field("world_settings", (2,), "real", "s or 1", "elements WORLDS_..."),
    Field("world_calls", (4,), "real", "1", "addresses and steps, elements WORLDS_..., exact as numbers"),
)

# elements of work and step_work
WORK_OF_ACTUATORS, WORK_OF_JOINT_DAMPING, WORK_OF_FORCE_ELEMENTS, WORK_OF_CONTACT = range(4)
WORK_OF_LIMITS, WORK_OF_CONSTRAINTS, WORK_OF_JOINT_FRICTION, WORK_UNEXPLAINED = range(4, 8)
WORK_OF_PUSHES, WORK_OF_PLUGINS = 8, 9
WORK_OF_CONTACT_FRICTION = 10  # a part of WORK_OF_CONTACT
# elements of balance_settings: joint damping acts by the new velocities, the plant has constraints, a state was seen;
# time of the start of the last step [s], the first of the forces on bodies that act in it and the one after the last
BALANCE_IMPLICIT, BALANCE_CONSTRAINED, BALANCE_BEGUN, BALANCE_TIME, BALANCE_FIRST_PUSH, BALANCE_END_PUSH = range(6)

BALANCE_FIELDS = (
    Field("work", (WORKS,), "real", "J", "work of each cause since the start, elements WORK_..."),
    Field("step_work", (WORKS,), "real", "J", "the same of one step"),
    Field("projection", (1,), "real", "J", "what the projection of a step onto the constraints added"),
    Field("kinetic_range", (2,), "real", "J", "least and largest kinetic energy that was seen"),
    Field("balance_settings", (6,), "real", "1 or s", "elements BALANCE_..."),
    Field("q_before_step", ("nq",), "real", "rad, m or 1", "positions where a discrete step starts"),
    Field("v_before_step", ("nv",), "real", "rad/s or m/s", "velocities there"),
    Field("q_after_step", ("nq",), "real", "rad, m or 1", "positions where it ends"),
    Field("v_after_step", ("nv",), "real", "rad/s or m/s", "velocities there"),
)
