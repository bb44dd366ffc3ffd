"""The regressor of inverse dynamics at many states: rows in, rows out, as batch.py."""

from mbcli.engine.queries.batch import put3, put_number, states_at_once, take
from mbcli.engine.runtime.handles import data_at, model_at
from mbcli.engine.runtime.kernel import Handle, Indices, Matrix, OutMatrix, Vector, unlocked
from mbcli.engine.smooth.kinematics import acceleration_kinematics, position_kinematics, velocity_kinematics
from mbcli.engine.smooth.regressor import inertia_elements, mass_elements, motion_of_inertia, velocity_by


@unlocked
def regressors_of_states(
    model: Handle,
    data: Handle,
    q: Matrix,
    v: Matrix,
    vdot: Matrix,
    frames: Indices,
    under_gravity: Vector,
    Y: OutMatrix,
):
    """q (n, nq), v, vdot (n, nv) -> Y (n, nv * 10 m), which is 0 before, for the bodies of m frames.

    under_gravity (m,): 1 where gravity acts on the mass of a body, else 0. Only elements of velocities that move a
    body are written.
    """
    m, d = model_at(model), data_at(data)
    for i in range(6):
        d.A[0, i] = 0.0
    width = 10 * frames.shape[0]
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        take(vdot, k, d.vdot)
        position_kinematics(m, d)
        velocity_kinematics(m, d)
        acceleration_kinematics(m, d)
        for j in range(frames.shape[0]):
            b = m.frame_body[frames[j]]
            if b == 0:
                continue
            axes, r, w, alpha, a = motion_of_inertia(m, d, frames[j], under_gravity[j])
            i = m.body_v[b] + m.body_nv[b] - 1
            while i >= 0:
                s_w, s_v = velocity_by(d, i, axes, r)
                mass, moment = mass_elements(s_v, s_w, w, alpha, a)
                first, second = inertia_elements(s_w, w, alpha)
                place = i * width + 10 * j
                put_number(mass, Y, k, place)
                put3(moment, Y, k, place + 1)
                put3(first, Y, k, place + 4)
                put3(second, Y, k, place + 7)
                i = m.dof_parent[i]
