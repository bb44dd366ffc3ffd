"""Scenes in contact, built by the same source with mbcli and with pydrake."""

from types import SimpleNamespace

import numpy as np

APPROXIMATIONS = ("lagged", "similar", "sap", "tamsi")
FALL = 9.81  # [m/s^2]


def own_library():
    """What these scenes need of mbcli, by name."""
    from mbcli import geometry, math
    from mbcli.config import scene_graph_config
    from mbcli.multibody import math as spatial, parsing, plant, tree
    from mbcli.systems import analysis, framework

    return _joined(geometry, scene_graph_config, math, spatial, parsing, plant, tree, analysis, framework)


def unit_quaternions(plant, q):
    """q (nq,) with floating bodies' quaternions of unit length, as steps of mbcli leave them, and not of pydrake."""
    q = np.array(q)
    for index in plant.GetFloatingBaseBodies():
        body = plant.get_body(index)
        if body.has_quaternion_dofs():
            i = body.floating_positions_start()
            q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
    return q


def drake_library():
    """The same of pydrake."""
    from pydrake import geometry, math
    from pydrake.multibody import math as spatial, parsing, plant, tree
    from pydrake.systems import analysis, framework

    return _joined(geometry, math, spatial, parsing, plant, tree, analysis, framework)


def _joined(*modules):
    return SimpleNamespace(**{name: getattr(module, name) for module in modules for name in dir(module)})


class Scene:
    """A discrete plant with a scene graph; `add` solids, then `start`.

    Args:
        lib: own_library() or drake_library().
        h: time step [s].
        approximation: one of APPROXIMATIONS.
        single_points: one contact point per pair of geometries, and steps, as pydrake has it.
        material: what surfaces have where `ball`, `box` and `ground` are not told; stiffness None: by the allowance.
    """

    def __init__(self, lib, h, approximation="lagged", *, single_points=False, gravity=True, v_s=1e-3, **material):
        self.lib, self.h = lib, h
        self.material = {"stiffness": 2e4, "dissipation": 10.0, "tau": 0.02, "friction": 0.5, **material}
        config = lib.MultibodyPlantConfig(time_step=h)
        config.contact_model, config.stiction_tolerance = "point", v_s
        config.discrete_contact_approximation = approximation
        self.builder = lib.DiagramBuilder()
        self.plant, self.graph = lib.AddMultibodyPlant(config, self.builder)
        if not gravity:
            self.plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
        if single_points:
            self.plant.settings.single_contact_points = True
            self.plant.set_step_scheme("drake")
            self.plant.set_sap_near_rigid_threshold(1.0)
        self._solids = self._done = 0

    def surface(self, **changes):
        """ProximityProperties of the material with changes; numbers that are None stay unset."""
        values = {**self.material, **changes}
        properties = self.lib.ProximityProperties()
        friction = self.lib.CoulombFriction(values["friction"], values["friction"])
        self.lib.AddContactMaterial(values["dissipation"], values["stiffness"], friction, properties)
        if values["tau"] is not None:
            properties.AddProperty("material", "relaxation_time", values["tau"])
        return properties

    def collide(self, body, shape, X=None, **changes):
        """Lets a shape on a body collide."""
        self._solids += 1
        X = self.lib.RigidTransform() if X is None else X
        return self.plant.RegisterCollisionGeometry(body, X, shape, f"solid_{self._solids}", self.surface(**changes))

    def ground(self, **changes):
        return self.collide(self.plant.world_body(), self.lib.HalfSpace(), **changes)

    def fixed_box(self, size, position, rpy=(0.0, 0.0, 0.0), **changes):
        X = self.lib.RigidTransform(self.lib.RollPitchYaw(*rpy), list(position))
        return self.collide(self.plant.world_body(), self.lib.Box(*size), X, **changes)

    def ball(self, name, mass, radius, **changes):
        body = self.plant.AddRigidBody(name, self.lib.SpatialInertia.SolidSphereWithMass(mass, radius))
        self.collide(body, self.lib.Sphere(radius), **changes)
        return body

    def box(self, name, mass, size, **changes):
        body = self.plant.AddRigidBody(name, self.lib.SpatialInertia.SolidBoxWithMass(mass, *size))
        self.collide(body, self.lib.Box(*size), **changes)
        return body

    def start(self):
        """Finalizes; then state, step and results can be asked for."""
        self.plant.Finalize()
        self.diagram = self.builder.Build()
        self.simulator = self.lib.Simulator(self.diagram)
        self.root = self.simulator.get_mutable_context()
        self.context = self.plant.GetMyMutableContextFromRoot(self.root)
        if self.plant.num_actuators():
            self.plant.get_actuation_input_port().FixValue(self.context, np.zeros(self.plant.num_actuators()))
        return self

    def place(self, name, position, rpy=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0)):
        body = self.plant.GetBodyByName(name)
        X = self.lib.RigidTransform(self.lib.RollPitchYaw(*rpy), list(position))
        self.plant.SetFreeBodyPose(self.context, body, X)
        V_WB = self.lib.SpatialVelocity(w=np.array(spin, float), v=np.array(velocity, float))
        self.plant.SetFreeBodySpatialVelocity(context=self.context, body=body, V_PB=V_WB)

    def set(self, q, v):
        self._done = 0
        self.root.SetTime(0.0)
        self.plant.SetPositions(self.context, q)
        self.plant.SetVelocities(self.context, v)
        self.simulator.Initialize()

    @property
    def q(self):
        return self.plant.GetPositions(self.context).copy()

    @property
    def v(self):
        return self.plant.GetVelocities(self.context).copy()

    def steps(self, count):
        """Does so many steps from here. Times are halfway between steps, where rounding does not decide about one."""
        self._done += count
        self.simulator.AdvanceTo((self._done - 0.5) * self.h)
        return self

    def where(self, name):
        """p_WB (3,) of a body."""
        return self.plant.EvalBodyPoseInWorld(self.context, self.plant.GetBodyByName(name)).translation().copy()

    def velocity(self, name):
        """v_WB (3,) of a body."""
        body = self.plant.GetBodyByName(name)
        return self.plant.EvalBodySpatialVelocityInWorld(self.context, body).translational().copy()

    def contacts(self):
        """PointPairContactInfo of the last step."""
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        return [results.point_pair_contact_info(i) for i in range(results.num_point_pair_contacts())]

    def energy(self):
        plant, context = self.plant, self.context
        return plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context)
