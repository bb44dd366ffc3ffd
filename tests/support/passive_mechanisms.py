"""Twenty-two mechanisms that nothing drives or brakes: open trees of all joint types, free bodies, closed chains.

make(name, time_step, ...) -> (plant, q, v): a finalized plant and a state from which its motion is lively.
"""

import numpy as np

from mbcli.math import RigidTransform, RotationMatrix
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import (
    BallRpyJoint,
    PlanarJoint,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RpyFloatingJoint,
    ScrewJoint,
    SpatialInertia,
    UniversalJoint,
)

X, Y, Z = np.eye(3)


class Maker:
    def __init__(self, time_step, **settings):
        self.plant = MultibodyPlant(time_step)
        for name, value in settings.items():
            getattr(self.plant, f"set_{name}")(value)
        self.state = []

    def body(self, mass=1.0, size=(0.1, 0.1, 1.0), center=(0.0, 0.0, -0.5)):
        inertia = SpatialInertia.SolidBoxWithMass(mass, *size).Shift([-x for x in center])
        return self.plant.AddRigidBody(f"body{self.plant.num_bodies()}", inertia)

    def joint(self, kind, parent, child, place=(0.0, 0.0, 0.0), *axis, q=(), v=(), turn=None):
        """Places it at `place` of the parent, turned by `turn`; q and v are where it starts."""
        from mbcli.multibody.tree import FixedOffsetFrame

        plant, name = self.plant, f"joint{self.plant.num_joints()}"
        X_PF = RigidTransform(turn or RotationMatrix(), np.asarray(place))
        frame = plant.AddFrame(FixedOffsetFrame(f"{name}_frame", parent.body_frame(), X_PF))
        joint = plant.AddJoint(kind(name, frame, child.body_frame(), *axis))
        self.state.append((joint, q, v))
        return joint

    def chain(self, *links, parent=None):
        """links: (kind, axis..., {q, v, size, mass, place}): each hangs at the end of the one before."""
        parent, place = parent or self.plant.world_body(), (0.0, 0.0, 0.0)
        for kind, *axis, options in links:
            options = dict(options)
            q, v = options.pop("q", ()), options.pop("v", ())
            at, turn, end = options.pop("place", place), options.pop("turn", None), options.pop("end", None)
            child = self.body(**options)
            self.joint(kind, parent, child, at, *axis, q=q, v=v, turn=turn)
            parent, place = child, end or (0.0, 0.0, -1.0)
        return parent

    def finish(self):
        plant = self.plant
        plant.Finalize()
        q, v = plant.GetPositions(plant.CreateDefaultContext()), np.zeros(plant.num_velocities())
        for joint, its_q, its_v in self.state:
            if len(its_q):
                q[joint.position_start() : joint.position_start() + len(its_q)] = its_q
            if len(its_v):
                v[joint.velocity_start() : joint.velocity_start() + len(its_v)] = its_v
        return plant, q, v


THIN = (0.02, 0.02, 1.0)


def pendulum(m):
    m.chain((RevoluteJoint, Y, {"q": [2.0]}))


def double_pendulum(m):
    m.chain((RevoluteJoint, Y, {"q": [2.0]}), (RevoluteJoint, Y, {"q": [1.0], "v": [1.0]}))


def triple_pendulum(m):
    m.chain((RevoluteJoint, Y, {"q": [1.6]}), (RevoluteJoint, Y, {"q": [0.4]}), (RevoluteJoint, Y, {"q": [-0.3]}))


def universal_pendulum(m):
    m.chain((UniversalJoint, {"q": [0.9, 0.4], "v": [0.5, 2.0], "size": THIN}))


def universal_double_pendulum(m):
    m.chain((UniversalJoint, {"q": [0.9, 0.4], "v": [0.5, 1.0]}), (UniversalJoint, {"q": [0.2, -0.5]}))


def ball_pendulum(m):
    m.chain((BallRpyJoint, {"q": [0.5, 0.4, 0.1], "v": [0.5, 1.0, 3.0], "size": (0.2, 0.3, 1.0)}))


def ball_double_pendulum(m):
    m.chain((BallRpyJoint, {"q": [0.5, 0.3, 0.1], "v": [0.2, 0.4, 1.0]}), (BallRpyJoint, {"q": [0.3, -0.2, 0.1]}))


def tilted_pendulum(m):
    """Hinges whose axes are neither parallel nor square to each other."""
    m.chain(
        (RevoluteJoint, np.array([0.6, 0.8, 0.0]), {"q": [1.2]}),
        (RevoluteJoint, np.array([0.0, 0.6, 0.8]), {"q": [0.5], "v": [2.0]}),
        (RevoluteJoint, np.array([0.8, 0.0, 0.6]), {"q": [-0.5], "v": [-1.0]}),
    )


def gyroscope(m):
    """A top in gimbals, whose wheel spins."""
    m.chain(
        (RevoluteJoint, Z, {"size": (0.3, 0.3, 0.02), "center": (0, 0, 0), "mass": 0.2, "end": (0, 0, 0), "v": [0.5]}),
        (RevoluteJoint, Y, {"size": (0.3, 0.02, 0.3), "center": (0, 0, 0), "mass": 0.2, "q": [1.0], "end": (0, 0, 0)}),
        (RevoluteJoint, Z, {"size": (0.3, 0.3, 0.05), "center": (0, 0, 0.2), "v": [60.0]}),
    )


def furuta_pendulum(m):
    m.chain(
        (RevoluteJoint, Z, {"size": (0.6, 0.05, 0.05), "center": (0.3, 0, 0), "v": [3.0], "end": (0.6, 0, 0)}),
        (RevoluteJoint, X, {"q": [2.5], "v": [1.0], "size": THIN}),
    )


def cart_pole(m):
    m.chain(
        (PrismaticJoint, X, {"center": (0, 0, 0), "size": (0.2, 0.2, 0.2), "end": (0, 0, 0), "v": [0.3]}),
        (RevoluteJoint, Y, {"q": [2.6]}),
        (RevoluteJoint, Y, {"q": [0.4]}),
    )


def screw_pendulum(m):
    class Screw(ScrewJoint):
        def __init__(self, name, frame, child, axis):
            super().__init__(name, frame, child, axis, 0.2, 0.0)

    m.chain((Screw, Y, {"q": [1.0], "v": [1.0]}), (RevoluteJoint, X, {"q": [1.0]}))


def planar_pendulum(m):
    m.chain(
        (PlanarJoint, [0.0, 0.0, 0.0], {"v": [0.3, 0.1, 1.0], "center": (0.2, 0, 0), "end": (0.4, 0, 0)}),
        (RevoluteJoint, Y, {"q": [1.0]}),
    )


def elastic_pendulum(m):
    """On a rod that a spring pulls together."""
    m.chain(
        (RevoluteJoint, Y, {"q": [1.0], "size": THIN}), (PrismaticJoint, Z, {"center": (0, 0, 0), "size": (0.1,) * 3})
    )
    spring = m.state[-1][0]
    from mbcli.multibody.tree import PrismaticSpring

    m.plant.AddForceElement(PrismaticSpring(spring, 0.0, 200.0))


def book(m):
    """A free body that spins about its middle axis (Dzhanibekov's effect), thrown up."""
    m.chain((QuaternionFloatingJoint, {"center": (0, 0, 0), "size": (0.1, 0.2, 0.3), "v": [0.01, 8.0, 0.01, 0, 0, 1]}))


def book_of_angles(m):
    m.chain((RpyFloatingJoint, {"center": (0, 0, 0), "size": (0.1, 0.2, 0.3), "v": [0.3, 0.2, 5.0, 0, 0, 1]}))


def lopsided_body(m):
    m.chain((QuaternionFloatingJoint, {"center": (0.1, 0.2, 0.3), "size": (0.4, 0.2, 0.1), "v": [4, 5, -3, 0, 0, 1]}))


def free_tree(m):
    """A floating body with four arms that swing."""
    root = m.chain((QuaternionFloatingJoint, {"center": (0, 0, 0), "size": (0.4, 0.3, 0.2), "v": [1, 2, -1, 0, 0, 0]}))
    for k, place in enumerate([(0.2, 0.15, 0), (0.2, -0.15, 0), (-0.2, 0.15, 0), (-0.2, -0.15, 0)]):
        m.chain(
            (RevoluteJoint, Y, {"place": place, "v": [2.0 - k], "q": [0.3 * k], "size": THIN, "mass": 0.3}),
            (RevoluteJoint, X, {"q": [0.5], "size": THIN, "mass": 0.2}),
            parent=root,
        )


def branched_tree(m):
    root = m.chain((UniversalJoint, {"q": [0.5, 0.2], "v": [0.0, 1.0]}))
    m.chain((RevoluteJoint, X, {"place": (0, 0, -1.0), "q": [1.0], "mass": 0.5}), parent=root)
    m.chain((BallRpyJoint, {"place": (0, 0, -0.5), "q": [0.5, 0.3, 0.0], "mass": 0.5}), parent=root)


def four_bar(m):
    from mbcli.multibody.tree import FixedOffsetFrame

    plant = m.plant
    last = m.chain(
        (RevoluteJoint, Y, {"q": [0.7], "v": [2.0]}),
        (RevoluteJoint, Y, {"q": [-np.pi / 2 - 0.7], "v": [-2.0]}),
        (RevoluteJoint, Y, {"q": [0.7 - np.pi / 2], "v": [2.0]}),
    )
    # a parallelogram: the coupler stays along x
    end = plant.AddFrame(FixedOffsetFrame("end", last.body_frame(), RigidTransform([0.0, 0.0, -1.0])))
    foot = plant.AddFrame(FixedOffsetFrame("foot", plant.world_body().body_frame(), RigidTransform([1.0, 0.0, 0.0])))
    plant.AddJoint(RevoluteJoint("closing", foot, end, Y))


def ball_loop(m):
    """The ends of a universal pendulum and a ball pendulum, which a rigid rod ties: a loop in space."""
    plant = m.plant
    one = m.chain((UniversalJoint, {"q": [0.6, 0.0], "v": [0.0, 0.8]}))
    two = m.chain((BallRpyJoint, {"place": (0.0, 1.5, 0.0), "q": [0.2, 0.0, 0.0]}))
    length = np.hypot(1.5 + np.sin(0.2) - np.sin(0.6), np.cos(0.6) - np.cos(0.2))
    plant.AddDistanceConstraint(one, [0, 0, -1.0], two, [0, 0, -1.0], length)


def floating_loop(m):
    """Two free bodies that a ball holds together."""
    plant = m.plant
    one = m.chain((QuaternionFloatingJoint, {"center": (0, 0, 0), "size": (0.4, 0.3, 0.2), "v": [2, 3, -1, 0, 0, 0]}))
    start = {"q": [1, 0, 0, 0, 1, 0, 0], "v": [0, 0, 0, 0, -0.5, -1.5]}
    two = m.chain((QuaternionFloatingJoint, {"center": (0, 0, 0), "size": (0.2, 0.3, 0.5), **start}))
    plant.AddBallConstraint(one, [0.5, 0.0, 0.0], two, [-0.5, 0.0, 0.0])


OPEN = (
    pendulum,
    double_pendulum,
    triple_pendulum,
    universal_pendulum,
    universal_double_pendulum,
    ball_pendulum,
    ball_double_pendulum,
    tilted_pendulum,
    gyroscope,
    furuta_pendulum,
    cart_pole,
    screw_pendulum,
    planar_pendulum,
    elastic_pendulum,
    book,
    book_of_angles,
    lopsided_body,
    free_tree,
    branched_tree,
)
CLOSED = (four_bar, ball_loop, floating_loop)


def make(mechanism, time_step, **settings):
    """(plant, q, v) of a function of this module; settings are those of the plant's setters without `set_`."""
    m = Maker(time_step, **settings)
    mechanism(m)
    return m.finish()
