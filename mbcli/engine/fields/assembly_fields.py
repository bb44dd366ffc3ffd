"""The arrays of a search for the positions nearest to wanted ones that satisfy equations, declared once.

There are nequation equations phi(q) = 0, the last nbound of them bounds, nattempt other starts, nwide is the larger one
of nequation and nv, npanel the size of a panel of nv rows. Names of fields differ from those of all other tables.
"""

from mbcli.engine.fields.model_fields import Field

# elements of assembly_counts. Given: steps of each start at most, other starts, whether to go on to the least distance.
# Found: whether phi is zero, steps, other starts that were tried, evaluations of phi, rank of its derivative
ASSEMBLY_MOST_STEPS, ASSEMBLY_ATTEMPTS, ASSEMBLY_MINIMIZE = range(3)
ASSEMBLY_CONVERGED, ASSEMBLY_STEPS, ASSEMBLY_RESTARTS, ASSEMBLY_EVALUATIONS, ASSEMBLY_RANK = range(3, 8)
# elements of assembly_numbers. Given: norm of phi that counts as zero. Found: norm of phi, norm of the gradient of the
# distance along the equations
ASSEMBLY_TOLERANCE, ASSEMBLY_ERROR, ASSEMBLY_STATIONARITY = range(3)

SPARE_ROWS = 4  # of a panel, behind those of the matrix: see dense_systems.py

ASSEMBLY_FIELDS = (
    Field("assembly_counts", (8,), "int", "", "elements ASSEMBLY_..."),
    Field("assembly_numbers", (3,), "real", "1", "elements ASSEMBLY_..."),
    Field("restart_moves", ("nattempt", "nv"), "real", "rad or m", "from q_wanted to each other start"),
    Field("bound_q", ("nbound",), "int", "", "positions with bounds: how far they are beyond them is the end of phi"),
    Field("bound_dof", ("nbound",), "int", "", "their velocities"),
    Field("bounds", ("nbound", 2), "real", "rad or m", "lower and upper bound"),
    Field("assembly_weights", ("nv",), "real", "1", "weight of each velocity in the distance; infinite: it stays"),
    Field("step_scale", ("nv",), "real", "1", "how far each velocity goes in a step to phi = 0, by its weight"),
    Field("q_wanted", ("nq",), "real", "rad, m or 1", "positions that the distance is measured from"),
    Field("q_reached", ("nq",), "real", "rad, m or 1", "where the steps have come to"),
    Field("q_tried", ("nq",), "real", "rad, m or 1", "where the next one leads"),
    Field("q_best", ("nq",), "real", "rad, m or 1", "the best positions so far, and at last the result"),
    Field("phi", ("nequation",), "real", "m or 1", "errors of the equations, in the caller's order"),
    Field("phi_reached", ("nequation",), "real", "m or 1", "phi at q_reached"),
    Field("phi_slope", ("nequation", "nv"), "real", "m or 1", "derivatives of these along velocities"),
    Field("contact_height", ("nequation",), "real", "m", "height of the point of a contact at q_wanted"),
    Field("turned_rows", ("nwide", "nv"), "real", "1", "rows of a matrix, turned until they are orthogonal"),
    Field("turned_by", ("nwide", "nwide"), "real", "1", "the rotation that turned them"),
    Field("row_lengths", ("nwide",), "real", "1", "their lengths: the singular values of the matrix"),
    Field("turned_phi", ("nequation",), "real", "m or 1", "phi turned likewise"),
    Field("assembly_panel", ("npanel",), "real", "1", "phi_slope transposed, as dense_systems.py takes it"),
    Field("assembly_order", ("nequation",), "int", "", "places of its columns"),
    Field("along", ("nv", "nv"), "real", "1", "rows: directions that the equations leave, after those they bind"),
    Field("assembly_step", ("nv",), "real", "rad or m", "the step that is tried"),
    Field("step_along", ("nv",), "real", "rad or m", "the step along the equations while steps lead back to them"),
    Field("difference", ("nv",), "real", "rad or m", "from q_wanted to positions"),
    Field("distance_slope", ("nv",), "real", "1", "gradient of the weighted distance along velocities"),
    Field("slope_before", ("nv",), "real", "1", "the gradient of the Lagrangian on one side"),
    Field("slope_along", ("nv",), "real", "1", "components of the gradient of the distance in `along`"),
    Field("equation_forces", ("nequation",), "real", "1", "multipliers that balance the rest of it"),
    Field("curvature", ("nv", "nv"), "real", "1", "second derivatives of the Lagrangian in `along`"),
)
