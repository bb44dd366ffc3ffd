"""Results of queries about two geometries."""

from dataclasses import field

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.geometry.identifiers import GeometryId


@dataclass
class PenetrationAsPointPair:
    """How two geometries overlap: by the least motion that separates them."""

    id_A: GeometryId = field(default_factory=GeometryId)
    id_B: GeometryId = field(default_factory=GeometryId)
    p_WCa: np.ndarray = field(default_factory=lambda: np.zeros(3))  # [m] point of A that is deepest in B
    p_WCb: np.ndarray = field(default_factory=lambda: np.zeros(3))  # [m] point of B that is deepest in A
    nhat_BA_W: np.ndarray = field(default_factory=lambda: np.zeros(3))  # unit normal out of B into A
    depth: float = -1.0  # [m] positive if they overlap


@dataclass
class SignedDistancePair:
    """The distance of two geometries, and their nearest points."""

    id_A: GeometryId = field(default_factory=GeometryId)
    id_B: GeometryId = field(default_factory=GeometryId)
    p_ACa: np.ndarray = field(default_factory=lambda: np.zeros(3))  # [m] nearest point of A, in A's own frame
    p_BCb: np.ndarray = field(default_factory=lambda: np.zeros(3))  # [m] nearest point of B, in B's own frame
    distance: float = 0.0  # [m] negative if they overlap
    nhat_BA_W: np.ndarray = field(default_factory=lambda: np.zeros(3))  # unit normal out of B into A


@dataclass
class SignedDistanceToPoint:
    """The distance of a geometry from a point Q, and the point N of its surface that is nearest to Q."""

    id_G: GeometryId = field(default_factory=GeometryId)
    p_GN: np.ndarray = field(default_factory=lambda: np.zeros(3))  # [m] N in the geometry's own frame
    distance: float = 0.0  # [m] negative inside
    grad_W: np.ndarray = field(default_factory=lambda: np.zeros(3))  # gradient of the distance by p_WQ, of unit length
