"""Bodies that touch in contact surfaces, in mbcli and in pydrake alike."""

import itertools

import numpy as np


class HydroelasticScene:
    """A plant of `lib`, mbcli.all or pydrake.all, with bodies that are free and geometries that are fixed to World.

    Args:
        step: [s], 0 for a continuous plant.
        approximation, model, surface: as a MultibodyPlantConfig names them.
        gravity: whether there is any.
    """

    def __init__(self, lib, step=1e-3, approximation="lagged", model="hydroelastic", surface="polygon", gravity=True):
        config = lib.MultibodyPlantConfig(time_step=step, contact_model=model)
        config.discrete_contact_approximation, config.contact_surface_representation = approximation, surface
        config.stiction_tolerance, config.use_sampled_output_ports = 1e-4, False
        self.lib, self.step, self.builder = lib, step, lib.DiagramBuilder()
        self.plant, self.graph = lib.AddMultibodyPlant(config, self.builder)
        if not gravity:
            self.plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))

    def properties(
        self, kind, modulus=None, hint=None, slab=None, dissipation=0.0, friction=0.5, relaxation=0.0, margin=None
    ):
        """ProximityProperties: "rigid", "soft" or "none"."""
        lib, made = self.lib, self.lib.ProximityProperties()
        lib.AddContactMaterial(
            dissipation=dissipation, friction=lib.CoulombFriction(friction, friction), properties=made
        )
        made.AddProperty("material", "relaxation_time", relaxation)
        if kind == "rigid":
            lib.AddRigidHydroelasticProperties(properties=made, **({} if hint is None else {"resolution_hint": hint}))
        elif slab is not None:
            lib.AddCompliantHydroelasticPropertiesForHalfSpace(
                slab_thickness=slab, hydroelastic_modulus=modulus, properties=made
            )
        elif kind == "soft":
            lib.AddCompliantHydroelasticProperties(
                resolution_hint=hint or 1.0, hydroelastic_modulus=modulus, properties=made
            )
            if hint is None:
                made.RemoveProperty("hydroelastic", "resolution_hint")
        if margin is not None:
            made.AddProperty("hydroelastic", "margin", margin)
        return made

    def shape(self, name, *measures):
        return getattr(self.lib, name)(*measures)

    def add(self, shape, properties, inertia=None, name="b"):
        """A free body with a geometry; shape: (name, measures...), properties: arguments of properties()."""
        inertia = inertia or self.lib.SpatialInertia.SolidSphereWithMass(1.0, 0.1)
        body = self.plant.AddRigidBody(name, inertia)
        self.plant.RegisterCollisionGeometry(
            body, self.lib.RigidTransform(), self.shape(*shape), name, self.properties(**properties)
        )

    def fix(self, shape, properties, p=(0.0, 0.0, 0.0)):
        """A geometry of World at a place."""
        X, world = self.lib.RigidTransform(list(p)), self.plant.world_body()
        self.plant.RegisterCollisionGeometry(world, X, self.shape(*shape), "ground", self.properties(**properties))

    def start(self):
        self.plant.Finalize()
        diagram = self.builder.Build()
        self.simulator = self.lib.Simulator(diagram)
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        return self

    def place(self, p, rpy=(0, 0, 0), v=(0, 0, 0), w=(0, 0, 0), name="b"):
        lib, body = self.lib, self.plant.GetBodyByName(name)
        X = lib.RigidTransform(lib.RollPitchYaw(*rpy), list(p))
        self.plant.SetFreeBodyPose(self.context, body, X)
        velocities = self.plant.GetVelocities(self.context)
        first = body.floating_velocities_start_in_v()
        velocities[first : first + 6] = [*w, *v]
        self.plant.SetVelocities(self.context, velocities)

    def run(self, time):
        self.simulator.AdvanceTo(time - self.step / 2)

    def height(self, name="b"):
        body = self.plant.GetBodyByName(name)
        return float(self.plant.EvalBodyPoseInWorld(self.context, body).translation()[2])

    def results(self):
        return self.plant.get_contact_results_output_port().Eval(self.context)

    def surfaces(self):
        results = self.results()
        return [results.hydroelastic_contact_info(i) for i in range(results.num_hydroelastic_contacts())]

    def found(self):
        """Of the first surface: force and moment on the free body at the centroid, area, centroid, largest pressure."""
        info = self.surfaces()[0]
        surface, F = info.contact_surface(), info.F_Ac_W()
        names = self.graph.model_inspector()
        sign = 1.0 if names.GetName(names.GetFrameId(surface.id_M())) != "world" else -1.0
        field = surface.tri_e_MN() if surface.is_triangle() else surface.poly_e_MN()
        return {
            "force": sign * F.translational(),
            "moment": sign * F.rotational(),
            "area": surface.total_area(),
            "centroid": surface.centroid(),
            "peak": max(field.EvaluateAtVertex(k) for k in range(surface.num_vertices())),
            "faces": surface.num_faces(),
            "vertices": surface.num_vertices(),
        }


def at_rest(lib, shape, soft, ground, ground_properties, p, rpy=(0, 0, 0), ground_at=(0, 0, 0), **motion):
    """HydroelasticScene.found() of one body at one state, of a continuous plant unless there is a step."""
    surface, step = motion.pop("surface", "triangle"), motion.pop("step", 0.0)
    scene = HydroelasticScene(lib, step, surface=surface)
    scene.add(shape, soft)
    scene.fix(ground, ground_properties, ground_at)
    scene.start()
    scene.place(p, rpy, **motion)
    return scene.found()


def write_block(path, n=4, size=0.1):
    """A cube of 6 n^3 tetrahedra (Kuhn's division) as a VTK file."""
    points, index = [], {}
    for k in itertools.product(range(n + 1), repeat=3):
        index[k] = len(points)
        points.append([(i / n - 0.5) * size for i in k])
    tetrahedra = []
    for k in itertools.product(range(n), repeat=3):
        for order in itertools.permutations(range(3)):
            a, t = list(k), [index[tuple(k)]]
            for axis in order:
                a[axis] += 1
                t.append(index[tuple(a)])
            corners = np.array([points[i] for i in t])
            if np.linalg.det(corners[1:] - corners[0]) < 0:
                t[2], t[3] = t[3], t[2]
            tetrahedra.append(t)
    lines = [
        "# vtk DataFile Version 3.0",
        "block",
        "ASCII",
        "DATASET UNSTRUCTURED_GRID",
        f"POINTS {len(points)} double",
    ]
    lines += [" ".join(map(repr, p)) for p in points]
    lines += [f"CELLS {len(tetrahedra)} {5 * len(tetrahedra)}"] + [f"4 {a} {b} {c} {d}" for a, b, c, d in tetrahedra]
    lines += [f"CELL_TYPES {len(tetrahedra)}"] + ["10"] * len(tetrahedra)
    path.write_text("\n".join(lines) + "\n")


def write_pyramid(path):
    """A tetrahedron with a base on z = 0 as an OBJ file."""
    rows = ["v 0.05 0 0", "v -0.05 0.05 0", "v -0.05 -0.05 0", "v 0 0 0.1", "f 1 3 2", "f 1 2 4", "f 2 3 4", "f 3 1 4"]
    path.write_text("\n".join(rows) + "\n")
