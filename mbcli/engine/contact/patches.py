"""Patches: contacts that follow each other and are of the same two bodies, as the faces of a contact surface are.

Their velocities follow from the relative motion of the bodies: v_i = R_i^T (v_P + w x r_i), with the velocity v_P of a
point P common to the patch and the arm r_i from P. So only the six rows of (v_P, w) have columns, those of the first
contact of the patch: pieces in pairs, of v_P and of w. Velocities, impulses and the Hessian are summed over the patch
in this space before they meet the columns; the work for each contact does not depend on the robot.
"""

from mbcli.engine.contact.dual_friction import dual_hessian, has_dual
from mbcli.engine.contact.laws.registry import IN_PATCHES
from mbcli.engine.fields.contact_fields import (
    PLACE_ACROSS,
    PLACE_ARM,
    PLACE_NORMAL,
    PLACE_TANGENT,
    VECTOR_GRADIENT,
    VECTOR_INVERSE_DIAGONAL,
)
from mbcli.engine.runtime.dispatch import dispatch
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import add_product, sum_of_lanes
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, subtract
from mbcli.engine.smooth.trigonometry import square_root


@kernel
def patch_velocity(solver, i, x):
    """(w, v_P) of patch i at x, a row of vectors."""
    J, vectors, piece_vector = solver.jacobian8, solver.vectors8, solver.piece_vector
    p = solver.con_first[i]
    s = vectors[x, piece_vector[p]]
    a, b, c = J[3 * p] * s, J[3 * p + 1] * s, J[3 * p + 2] * s
    d, e, f = J[3 * p + 3] * s, J[3 * p + 4] * s, J[3 * p + 5] * s
    for p in range(solver.con_first[i] + 2, solver.con_first[i + 1], 2):
        s = vectors[x, piece_vector[p]]
        a, b, c = add_product(a, J[3 * p], s), add_product(b, J[3 * p + 1], s), add_product(c, J[3 * p + 2], s)
        d, e, f = add_product(d, J[3 * p + 3], s), add_product(e, J[3 * p + 4], s), add_product(f, J[3 * p + 5], s)
    w = (sum_of_lanes(d), sum_of_lanes(e), sum_of_lanes(f))
    return w, (sum_of_lanes(a), sum_of_lanes(b), sum_of_lanes(c))


@kernel
def velocity_in_patch(solver, i, w, v):
    """Velocity along the three rows of contact i of a patch that moves by (w, v_P)."""
    place = solver.con_place
    u = add(v, cross(w, row3(place, i, PLACE_ARM)))
    return (
        dot(row3(place, i, PLACE_TANGENT), u),
        dot(row3(place, i, PLACE_ACROSS), u),
        dot(row3(place, i, PLACE_NORMAL), u),
    )


@kernel
def patch_times_jacobian(solver, i, x, y):
    """Rows of y = J x for the contacts of patch i."""
    w, v = patch_velocity(solver, i, x)
    for n in range(i, i + solver.con_patch_size[i]):
        y[n, 0], y[n, 1], y[n, 2] = velocity_in_patch(solver, n, w, v)


@kernel
def evaluate_patch_law(solver, i):
    """con_v -> con_impulse, con_hessian of the contacts of patch i."""
    con_v = solver.con_v
    for n in range(i, i + solver.con_patch_size[i]):
        respond_in_contact(solver, n, con_v[n, 0], con_v[n, 1], con_v[n, 2])


@kernel
def keep_response(solver, n, response):
    """-> con_impulse, con_hessian of contact n."""
    impulse, hessian = solver.con_impulse, solver.con_hessian
    impulse[n, 0], impulse[n, 1], impulse[n, 2] = response[0], response[1], response[2]
    hessian[n, 0], hessian[n, 1], hessian[n, 2] = response[3], response[4], response[5]
    hessian[n, 3], hessian[n, 4], hessian[n, 5] = response[6], response[7], response[8]


# The law is called in the call that keeps its numbers, so that they go to the arrays by registers: a call that returned
# nine numbers would put them on the stack one by one, and reading them back as vectors waits for all of them.
respond_in_contact = dispatch(
    globals(),
    "respond_in_contact",
    "response",
    IN_PATCHES,
    "solver, n, x, y, z",
    "As response_of(), of a contact that is in a patch; -> con_impulse, con_hessian.",
    kind="solver.con_kind[n]",
    passed="solver.con_law, n, x, y, z",
    within="keep_response(solver, n, {})",
)


@kernel
def slope_of_patch(solver, i, step_length):
    """As line_search.slope_of_constraints(), of patch i; -> con_impulse, con_hessian there."""
    slope, curvature = 0.0, 0.0
    v, dv, j, H = solver.con_v, solver.con_dv, solver.con_impulse, solver.con_hessian
    for n in range(i, i + solver.con_patch_size[i]):
        a, b, c = dv[n, 0], dv[n, 1], dv[n, 2]
        respond_in_contact(solver, n, v[n, 0] + step_length * a, v[n, 1] + step_length * b, v[n, 2] + step_length * c)
        response = (j[n, 0], j[n, 1], j[n, 2], H[n, 0], H[n, 1], H[n, 2], H[n, 3], H[n, 4], H[n, 5])
        first, second = along_direction(response, a, b, c)
        slope += first
        curvature += second
    return slope, curvature


@kernel
def along_direction(response, a, b, c):
    """First and second derivative of the cost along the direction (a, b, c), from response_of()."""
    x, y, z, xx, yy, zz, xy, xz, yz = response
    curvature = a * (xx * a + 2.0 * (xy * b + xz * c)) + b * (yy * b + 2.0 * yz * c) + c * zz * c
    return -(x * a + y * b + z * c), curvature


@kernel
def add_patch_impulses(solver, i):
    """con_impulse of the contacts of patch i, added to the gradient's row."""
    place, impulse = solver.con_place, solver.con_impulse
    f, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for n in range(i, i + solver.con_patch_size[i]):
        x, y, z = impulse[n, 0], impulse[n, 1], impulse[n, 2]
        part = add(
            add(scale(x, row3(place, n, PLACE_TANGENT)), scale(y, row3(place, n, PLACE_ACROSS))),
            scale(z, row3(place, n, PLACE_NORMAL)),
        )
        f, moment = add(f, part), add(moment, cross(row3(place, n, PLACE_ARM), part))
    add_wrench_of_patch(solver, i, f, moment)


@kernel
def add_wrench_of_patch(solver, i, f, moment):
    """What an impulse at P and a moment of patch i do, added to the gradient's row."""
    J, vectors, piece_vector = solver.jacobian8, solver.vectors8, solver.piece_vector
    for p in range(solver.con_first[i], solver.con_first[i + 1], 2):
        s = piece_vector[p]
        total = add_product(vectors[VECTOR_GRADIENT, s], J[3 * p], f[0])
        total = add_product(add_product(total, J[3 * p + 1], f[1]), J[3 * p + 2], f[2])
        total = add_product(add_product(total, J[3 * p + 3], moment[0]), J[3 * p + 4], moment[1])
        vectors[VECTOR_GRADIENT, s] = add_product(total, J[3 * p + 5], moment[2])


@kernel
def terms_of_patch(solver, i, terms):
    """Adds to terms the squared momenta of each row of the contacts of patch i over the masses."""
    J, vectors, place = solver.jacobian8, solver.vectors8, solver.con_place
    for n in range(i, i + solver.con_patch_size[i]):
        arm = row3(place, n, PLACE_ARM)
        for r in range(3):
            axis = row3(place, n, 3 * r)
            turn = cross(arm, axis)
            for p in range(solver.con_first[i], solver.con_first[i + 1], 2):
                row = axis[0] * J[3 * p] + axis[1] * J[3 * p + 1] + axis[2] * J[3 * p + 2]
                row = row + turn[0] * J[3 * p + 3] + turn[1] * J[3 * p + 4] + turn[2] * J[3 * p + 5]
                j = solver.con_impulse[n, r] * row
                terms = add_product(terms, j * j, vectors[VECTOR_INVERSE_DIAGONAL, solver.piece_vector[p]])
    return terms


@kernel
def in_world(solver, n, G):
    """R G R^T for the symmetric G (xx, yy, zz, xy, xz, yz) along the rows of contact n; the same six numbers."""
    place = solver.con_place
    t, b, c = row3(place, n, PLACE_TANGENT), row3(place, n, PLACE_ACROSS), row3(place, n, PLACE_NORMAL)
    xx, yy, zz, xy, xz, yz = G
    # rows of G R^T
    g = add(add(scale(xx, t), scale(xy, b)), scale(xz, c))
    h = add(add(scale(xy, t), scale(yy, b)), scale(yz, c))
    k = add(add(scale(xz, t), scale(yz, b)), scale(zz, c))
    return (
        t[0] * g[0] + b[0] * h[0] + c[0] * k[0],
        t[1] * g[1] + b[1] * h[1] + c[1] * k[1],
        t[2] * g[2] + b[2] * h[2] + c[2] * k[2],
        t[0] * g[1] + b[0] * h[1] + c[0] * k[1],
        t[0] * g[2] + b[0] * h[2] + c[0] * k[2],
        t[1] * g[2] + b[1] * h[2] + c[1] * k[2],
    )


@kernel
def patch_hessian(solver, i):
    """Second derivatives of the cost of patch i by (v_P, w), from con_hessian: block vv, three columns of wv, block ww.

    Symmetric blocks are xx, yy, zz, xy, xz, yz.
    """
    return sum_over_patch(solver, i, 1)


@kernel
def sum_over_patch(solver, i, of_law):
    """As patch_hessian(); of_law: 0 if con_hessian is to be taken as it is, dual variables or not."""
    vv, ww = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    first, second, third = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)  # columns of wv
    H, place = solver.con_hessian, solver.con_place
    for n in range(i, i + solver.con_patch_size[i]):
        G = (H[n, 0], H[n, 1], H[n, 2], H[n, 3], H[n, 4], H[n, 5])
        if of_law == 1 and has_dual(solver, n):
            G = dual_hessian(solver, n)
        G = in_world(solver, n, G)
        r = row3(place, n, PLACE_ARM)
        # columns of [r x] G, which is the block wv
        a = cross(r, (G[0], G[3], G[4]))
        b = cross(r, (G[3], G[1], G[5]))
        c = cross(r, (G[4], G[5], G[2]))
        # rows of -[r x] G [r x], the block ww
        x = cross(r, (a[0], b[0], c[0]))
        y = cross(r, (a[1], b[1], c[1]))
        z = cross(r, (a[2], b[2], c[2]))
        vv = add6(vv, G)
        ww = add6(ww, (x[0], y[1], z[2], x[1], x[2], y[2]))
        first, second, third = add(first, a), add(second, b), add(third, c)
    return vv, first, second, third, ww


@kernel
def add6(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@kernel
def patch_jacobian(solver, i):
    """As patch_hessian() for TAMSI, whose derivatives are not symmetric: rows of the blocks vv, vw, wv, ww."""
    nothing = (0.0, 0.0, 0.0)
    vv, vw, wv, ww = (
        (nothing, nothing, nothing),
        (nothing, nothing, nothing),
        (nothing, nothing, nothing),
        (nothing, nothing, nothing),
    )
    H, place = solver.con_hessian, solver.con_place
    for n in range(i, i + solver.con_patch_size[i]):
        t, b, c = row3(place, n, PLACE_TANGENT), row3(place, n, PLACE_ACROSS), row3(place, n, PLACE_NORMAL)
        # rows of G R^T, then of R G R^T
        g = add(add(scale(H[n, 0], t), scale(H[n, 3], b)), scale(H[n, 4], c))
        h = add(add(scale(H[n, 3], t), scale(H[n, 1], b)), scale(H[n, 5], c))
        k = scale(H[n, 2], c)
        x = add(add(scale(t[0], g), scale(b[0], h)), scale(c[0], k))
        y = add(add(scale(t[1], g), scale(b[1], h)), scale(c[1], k))
        z = add(add(scale(t[2], g), scale(b[2], h)), scale(c[2], k))
        r = row3(place, n, PLACE_ARM)
        turned = cross(r, x), cross(r, y), cross(r, z)  # rows of -G [r x]
        vv = add_rows3(vv, (x, y, z))
        vw = add_rows3(vw, turned)
        wv = add_rows3(wv, cross_columns(r, (x, y, z)))
        ww = add_rows3(ww, cross_columns(r, turned))
    return vv, vw, wv, ww


@kernel
def add_rows3(A, B):
    """A + B of matrices as three rows."""
    return add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2])


@kernel
def cross_columns(r, A):
    """[r x] A of a matrix as three rows."""
    return (
        subtract(scale(r[1], A[2]), scale(r[2], A[1])),
        subtract(scale(r[2], A[0]), scale(r[0], A[2])),
        subtract(scale(r[0], A[1]), scale(r[1], A[0])),
    )


@kernel
def fill_patch_response(solver, i):
    """-> con_response of patch i: J D^-1 J^T of (v_P, w) with the diagonal D of A, in the order of patch_hessian()."""
    J, vectors = solver.jacobian8, solver.vectors8
    W = solver.con_response
    for k in range(21):
        W[i, k] = 0.0
    for p in range(solver.con_first[i], solver.con_first[i + 1], 2):
        inverse = vectors[VECTOR_INVERSE_DIAGONAL, solver.piece_vector[p]]
        k = 0
        for r in range(6):
            scaled = inverse * J[3 * p + r]
            for s in range(r, 6):
                W[i, k] += sum_of_lanes(scaled * J[3 * p + s])
                k += 1


@kernel
def compliance_in_patch(solver, i, n):
    """As compliance.compliance(), of contact n of patch i, after fill_patch_response()."""
    W, r = solver.con_response, row3(solver.con_place, n, PLACE_ARM)
    # rows of the upper triangle: vv 0 1 2, vw 3 4 5 / 6 7, 8 9 10 / 11, 12 13 14 / ww 15 16 17 / 18 19 / 20
    vv = (W[i, 0], W[i, 6], W[i, 11], W[i, 1], W[i, 2], W[i, 7])
    a = (W[i, 3], W[i, 4], W[i, 5])  # rows of vw
    b = (W[i, 8], W[i, 9], W[i, 10])
    c = (W[i, 12], W[i, 13], W[i, 14])
    ww = (W[i, 15], W[i, 18], W[i, 20], W[i, 16], W[i, 17], W[i, 19])
    # vv + D + D^T - [r x] ww [r x] with D = vw [r x], as u = v_P - [r x] w
    d, e, f = cross(a, r), cross(b, r), cross(c, r)  # rows of D
    x, y, z = (
        cross(r, (ww[0], ww[3], ww[4])),
        cross(r, (ww[3], ww[1], ww[5])),
        cross(r, (ww[4], ww[5], ww[2])),
    )  # columns of [r x] ww
    g, h, k = cross(r, (x[0], y[0], z[0])), cross(r, (x[1], y[1], z[1])), cross(r, (x[2], y[2], z[2]))
    xx = vv[0] + 2.0 * d[0] + g[0]
    yy = vv[1] + 2.0 * e[1] + h[1]
    zz = vv[2] + 2.0 * f[2] + k[2]
    xy, xz, yz = vv[3] + d[1] + e[0] + g[1], vv[4] + d[2] + f[0] + g[2], vv[5] + e[2] + f[1] + h[2]
    return square_root(xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz))
