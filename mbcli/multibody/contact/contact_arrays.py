"""What a context needs for contact: solids where its parameters put them, and room for contacts."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.engine.collision.arrays import CANDIDATES
from mbcli.engine.contact.arrays import ContactPoints, ContactSamples
from mbcli.engine.fields.collision_fields import (
    COLLISION_NO_FUNCTION,
    COLLISION_NO_SURFACE,
    COLLISION_PAIR_A,
    COLLISION_PAIR_B,
    COLLISION_STATUS,
    COLLISION_TOO_MANY_CANDIDATES,
    COLLISION_TOO_MANY_PAIRS,
    COLLISION_TOO_MANY_POINTS,
    FACES_POLYGONS,
    FACES_TRIANGLES,
)
from mbcli.engine.fields.contact_fields import (
    FACE_AREA,
    FACE_GRADIENT_A,
    FACE_GRADIENT_B,
    FACE_MOMENT,
    FACE_PRESSURE,
    SAMPLES_LACKING,
    SAMPLES_NO_ROW,
    SAMPLES_STICTION,
)
from mbcli.engine.fields.model_fields import (
    CONTACT_ADDRESSES,
    CONTACT_AT_COLLISION,
    CONTACT_AT_DATA,
    CONTACT_AT_FIND,
    CONTACT_AT_KEEP,
    CONTACT_AT_MODEL,
    CONTACT_AT_POINTS,
    CONTACT_AT_SAMPLES,
)
from mbcli.engine.runtime.addresses import address_of_function, compile_elsewhere
from mbcli.errors import ModelError
from mbcli.multibody.contact.face_depths import slopes_along_normals
from mbcli.multibody.contact.sleep import Sleep

FIRST_POINTS = 64  # room for contact points, doubled when it is not enough
FIRST_KEPT = 256  # the same for the contacts of all samples of a block
CALLED = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * 5)


@dataclass(frozen=True)
class ContactRecord:
    """Contacts of one state or step, or of several one after another: a row for each point, n rows.

    solid (n, 2): those of A and B; position (n, 3): C in W; normal (n, 3): from B into A; distance (n,): negative
    where they overlap [m]; stiffness (n,) [N/m]; force (n, 3): on A at C, in W [N]; separation (n,): speed of parting,
    slip (n,) [m/s]. Of faces of contact surfaces, else 0: area (n,) [m^2], pressure (n,) at the centroid [Pa], gradient
    (n,): its slope by which the distance goes [Pa/m] (face_depths.py), field_gradients (n, 6) of A and B, moment
    (n, 3).
    """

    solid: np.ndarray
    position: np.ndarray
    normal: np.ndarray
    distance: np.ndarray
    stiffness: np.ndarray
    force: np.ndarray
    separation: np.ndarray
    slip: np.ndarray
    area: np.ndarray
    pressure: np.ndarray
    gradient: np.ndarray
    field_gradients: np.ndarray
    moment: np.ndarray
    corner_start: np.ndarray
    corners: np.ndarray

    def __len__(self):
        return len(self.distance)


@dataclass(frozen=True)
class SampledContacts:
    """Contacts of samples: those of row i are contacts[offset[i]:offset[i + 1]].

    iterations (n,) of the solver and its residual (n,) in the problem of the row's step.
    """

    offset: np.ndarray
    contacts: ContactRecord
    iterations: np.ndarray
    residual: np.ndarray

    def rows(self):
        """(k,) the row of each contact."""
        n = len(self.offset) - 1
        if n == 1:
            return np.zeros(len(self.contacts), dtype=np.int64)
        return np.repeat(np.arange(n), np.diff(self.offset))

    def chosen(self, rows):
        """Those of a mask of samples."""
        if rows.all():
            return self
        counts = np.diff(self.offset)
        record = _parts_of(self.contacts, np.repeat(rows, counts))
        return SampledContacts(
            np.concatenate([[0], np.cumsum(counts[rows])]), record, self.iterations[rows], self.residual[rows]
        )

    def of_row(self, row):
        """The ContactRecord of a sample."""
        return _parts_of(self.contacts, np.arange(self.offset[row], self.offset[row + 1]))


def _parts_of(record, kept):
    """Some contacts of a ContactRecord, by a mask or by numbers; corners of faces stay behind."""
    solid = record.solid[kept]
    whole = {"corner_start": np.zeros(len(solid) + 1, dtype=int), "corners": record.corners[:0]}
    parts = {name: getattr(record, name)[kept] for name in record.__dataclass_fields__ if name not in whole}
    return ContactRecord(**parts, **whole)


class ContactArrays:
    """Solids, contact points and samples of a context, and their room.

    Args:
        plant: finalized.
        model: the context's arrays of the engine.
        compiled: whether kernels are.
        single_points: whether a pair gives one point; default: as the plant says.
        earlier: ContactArrays whose room was found to be enough.
    """

    keeper = ""  # name of the kernel that keeps contacts in a row of the samples
    faces_left_out = 0  # a bit of FACES_...

    def __init__(self, plant, model, compiled, single_points=None, earlier=None):
        self.plant, self.model, self.compiled = plant, model, compiled
        self.single_points = plant.settings.single_contact_points if single_points is None else single_points
        self.geometries, self._revision = plant.compiled_geometries(model), plant.geometry_revision()
        self.points_room = FIRST_POINTS if earlier is None else earlier.points_room
        self.pairs = None if earlier is None else earlier.pairs
        self.candidates = CANDIDATES if earlier is None else earlier.candidates
        self.samples: Any = None
        self.sleep: Sleep | None = None  # of steps in which islands may sleep
        self.keeps = self.exact = False  # whether a run keeps contacts, and reports forces
        self.stays = False  # whether changes of solids are of other contexts
        triangles = plant.get_contact_surface_representation().name == "kTriangle"
        self.faces = (FACES_TRIANGLES if triangles else FACES_POLYGONS) | self.faces_left_out
        self.make()

    def place_of_contact(self, A: int, B: int) -> float:
        """The place of C between the surfaces of two solids: 0 at the deepest point of B, 1 at that of A."""
        raise NotImplementedError

    def failed(self) -> bool:
        """Whether the last step, or the last contacts, had no room or no result."""
        raise NotImplementedError

    def make_room(self) -> None:
        """After failed(). ContactUnsolvedError if it was not for want of room."""
        raise NotImplementedError

    def is_current(self, model):
        """Whether these are the solids of a model, and the filters have not changed."""
        return model is self.model and (self.stays or self._revision == self.plant.geometry_revision())

    def make(self):
        """The arrays, with as much room as was found to be needed."""
        self._attached = False
        self.collision = self.geometries.collision(
            single_points=self.single_points,
            pairs=self.pairs,
            candidates=self.candidates,
            faces=self.faces,
            strict=self.plant.requires_surfaces(),
        )
        self.points: Any = ContactPoints(self.points_room)  # its arrays are named by fields, those of samples too

    def start_samples(self, rows, kept=FIRST_KEPT):
        """Room for the contacts of so many samples."""
        self._attached = False
        self.samples = ContactSamples(rows, kept)
        self.set_samples()

    def set_samples(self):
        """The numbers of the plant that samples depend on."""
        self.samples.settings[SAMPLES_STICTION] = self.plant.get_stiction_tolerance()

    def start_run(self, rows, keeps, exact=False):
        """Room for the contacts of samples in blocks of so many rows, if they are to be kept.

        exact: whether forces of steps are reported.
        """
        if exact and not self.exact:
            self.exact, self._attached = True, False
        if self.samples is None or keeps or self.keeps or self.samples.rows != rows:
            self.keeps = keeps
            self.start_samples(rows)
        else:  # nothing is kept, as in the run before: making room costs as much as many steps
            self.samples.counts[:] = 0
            self.set_samples()

    def compiles_elsewhere(self, kernels):
        """Lets other processes compile what is called by address; whether they have to."""
        return self.compiled and compile_elsewhere(kernels, *self.called())

    def called(self) -> list[list[str]]:
        """Names of the kernels that are called by address in every run; groups take about as long to compile."""
        return [["add_touching_points_called", "find_contacts_called", self.keeper]]

    def attach(self, state):
        """Lets the kernels find the arrays from the data of an EvaluatedState."""
        if self._attached:
            return
        state.turn.require()
        if self.samples is None:
            self.start_samples(1)
        at = self.attached(state)
        if self.compiled:
            state.data.contact[:] = at
        else:  # any object can be an address
            state.data.contact = at
        self._handles = [at[k] for k in (CONTACT_AT_MODEL, CONTACT_AT_DATA, CONTACT_AT_POINTS, CONTACT_AT_SAMPLES)]
        self._kernels, self._attached = state.kernels, True

    def attach_anew(self, state):
        """The same, after some of the arrays were replaced."""
        self._attached = False
        self.attach(state)

    def attached(self, state):
        """The list that Data.contact becomes."""
        at = [0.0] * CONTACT_ADDRESSES
        at[CONTACT_AT_MODEL], at[CONTACT_AT_DATA] = state.model_handle, state.data_handle
        for place, arrays in (
            (CONTACT_AT_POINTS, self.points),
            (CONTACT_AT_COLLISION, self.collision),
            (CONTACT_AT_SAMPLES, self.samples),
        ):
            at[place] = arrays.handle(self.compiled)
        # the shortest first, while others may compile those that take longer
        at[CONTACT_AT_KEEP] = self.function(state.kernels, self.keeper) if self.keeps else 0.0
        at[CONTACT_AT_FIND] = self.function(state.kernels, "find_contacts_called")
        if self.compiled:
            self.collision.ready_compiled_search(state.kernels, at[CONTACT_AT_POINTS])
        return at

    def function(self, kernels, name):
        """A kernel as kernels call it by address."""
        function = getattr(kernels, name)
        return address_of_function(function) if self.compiled else function

    def keep(self, row):
        """Keeps the contacts of the data's state, or of the step computed last, in a row; whether there was room."""
        return self.call(self.keeper, self._handles, float(row)) == 0.0

    def call(self, name, handles, number):
        """What a kernel that is called by address gives."""
        function = self.function(self._kernels, name)
        if self.compiled:
            function = CALLED(function)
        return function(*handles, number)

    def record(self, state):
        """ContactRecord of the state or step that the data of an EvaluatedState were computed for last."""
        samples, keeps = self.samples, self.keeps
        if keeps:  # what a run has kept stays
            self.start_samples(1)
        try:
            self.attach(state)
            while not self.keep(0):
                self.grow()
                self.attach(state)
            return self.take(1).contacts
        finally:
            if keeps:
                self.samples, self._attached = samples, False
                self.attach(state)

    def take(self, rows):
        """SampledContacts of the first rows."""
        samples = self.samples
        offset = samples.offset[: rows + 1].copy()
        if rows == 0:
            offset[:] = 0
        n = offset[-1]
        names = ("geometry", "position", "normal", "distance", "stiffness", "force", "separation", "slip")
        contacts = ContactRecord(*(getattr(samples, name)[:n].copy() for name in names), *self._faces(n))
        is_face = contacts.gradient > 0.0
        contacts.distance[is_face] = -contacts.pressure[is_face] / contacts.gradient[is_face]
        return SampledContacts(offset, contacts, samples.iterations[:rows].copy(), samples.residual[:rows].copy())

    def _faces(self, n):
        """What the first n contacts are as faces."""
        face, corner_start = self.samples.face[:n], self.samples.corner_start[: n + 1].copy()
        gradients = face[:, FACE_GRADIENT_A : FACE_GRADIENT_B + 3].copy()
        corner_start[0] = 0
        return (
            *(face[:, column].copy() for column in (FACE_AREA, FACE_PRESSURE)),
            slopes_along_normals(self.samples.normal[:n], gradients),
            gradients,
            face[:, FACE_MOMENT : FACE_MOMENT + 3].copy(),
            corner_start,
            self.samples.corners[: corner_start[-1]].copy(),
        )

    # elastic bodies, which few plants have: elastic_step.py

    def compile_solvers(self, kernels: Any) -> None:
        """Compiles or loads the solvers of elastic bodies in contact."""

    def begin_step(self, state: Any) -> None:
        """Makes the elastic bodies ready for a step from a state."""

    def take_step(self) -> None:
        """The elastic bodies go to the end of the step that was computed last."""

    def take_exact_forces(self, h: float) -> None:
        """After a step of length h: see engine/stepping/exact_forces.py. Forces of a law are exact."""

    def complaint(self) -> str | None:
        """What steps of elastic bodies in contact gave less exactly than they should, in words; None if nothing."""
        return None

    def elastic_energies(self) -> tuple[float, float]:
        """(kinetic, potential) energy [J] of the elastic bodies in the state."""
        return 0.0, 0.0

    def touching_pairs(self) -> list[Any]:
        """TouchingPair of each pair with an elastic body that touches in the step computed last."""
        return []

    def add_forces_on_links(self, F: np.ndarray, X_WL: np.ndarray) -> None:
        """Adds the forces of elastic bodies on links at their origins, (num_bodies, 6) in W, of the last step."""

    def reuse_rows(self):
        """The samples are about to be taken: they have room again."""
        self.samples.counts[SAMPLES_LACKING] &= ~SAMPLES_NO_ROW

    def grow(self):
        """Doubles what had no room."""
        lacking = int(self.samples.counts[SAMPLES_LACKING])
        self.samples.counts[SAMPLES_LACKING] = 0
        if lacking & SAMPLES_NO_ROW:
            earlier = self.samples
            self.start_samples(earlier.rows, 2 * earlier.capacity)
            self.samples.counts[:], self.samples.settings[:] = earlier.counts, earlier.settings
        status = lacking | int(self.collision.counts[COLLISION_STATUS])
        if status & COLLISION_NO_SURFACE:
            self._refuse_pair()
        if status & COLLISION_NO_FUNCTION:
            self.collision.ready_what_is_needed(self._kernels)
        if status & COLLISION_TOO_MANY_PAIRS:
            self.pairs = 2 * self.collision.sizes["npair"]
        if status & COLLISION_TOO_MANY_POINTS:
            self.points_room *= 2
        if status & COLLISION_TOO_MANY_CANDIDATES:
            self.candidates *= 2
        if status & (COLLISION_TOO_MANY_PAIRS | COLLISION_TOO_MANY_POINTS | COLLISION_TOO_MANY_CANDIDATES):
            self.make()

    def _refuse_pair(self):
        """ModelError for the pair of solids that overlap without a contact surface, where there must be one."""
        counts = self.collision.counts
        A, B = counts[COLLISION_PAIR_A], counts[COLLISION_PAIR_B]
        kinds = [("undefined", "rigid", "compliant")[self.collision.field_kind[k]] for k in (A, B)]
        raise ModelError(
            f"contact_model hydroelastic: there is no contact surface between {self.geometry_name(A)}, {kinds[0]}, and "
            f"{self.geometry_name(B)}, {kinds[1]}: one must be compliant, the other compliant or rigid; "
            "hydroelastic_with_fallback lets them touch at points"
        )

    def named_pairs(self, points):
        """The pairs of bodies that contact points (indices) are of, once each: "a and b"."""
        pairs = dict.fromkeys(tuple(self.points.geometry[n]) for n in points)
        return list(dict.fromkeys(" and ".join(self.body_name(k) for k in pair) for pair in pairs))

    def geometry_name(self, solid):
        """The body of a solid, and which of its geometries it is."""
        name = self.plant.scene_graph.model_inspector().GetName(self.geometries.ids[solid])
        return f"{self.body_name(solid)} ({name})"

    def body_name(self, solid):
        """Name of the body of a solid, with its model's."""
        return self.plant.name_in_contact(self.plant.geometry_bodies[self.geometries.ids[solid]])
