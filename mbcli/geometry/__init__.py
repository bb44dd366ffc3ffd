"""Shapes, their registration and queries about them, under the names of pydrake.geometry."""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.config.scene_graph_config import DefaultProximityProperties, SceneGraphConfig
    from mbcli.geometry.collision_filter_manager import CollisionFilterManager
    from mbcli.geometry.collision_filters import CollisionFilterDeclaration, GeometrySet
    from mbcli.geometry.contact_pairs import PenetrationAsPointPair, SignedDistancePair, SignedDistanceToPoint
    from mbcli.geometry.contact_representation import HydroelasticContactRepresentation
    from mbcli.geometry.contact_surface import ContactSurface
    from mbcli.geometry.frame_poses import FramePoseVector, GeometryConfigurationVector
    from mbcli.geometry.geometry_frame import GeometryFrame
    from mbcli.geometry.geometry_instance import GeometryInstance
    from mbcli.geometry.hydroelastic_properties import (
        AddCompliantHydroelasticProperties,
        AddCompliantHydroelasticPropertiesForHalfSpace,
        AddRigidHydroelasticProperties,
    )
    from mbcli.geometry.identifiers import FilterId, FrameId, GeometryId, SourceId
    from mbcli.geometry.inspector import SceneGraphInspector
    from mbcli.geometry.mesh_fields import PolygonSurfaceMeshFieldLinear, TriangleSurfaceMeshFieldLinear
    from mbcli.geometry.polygon_mesh import PolygonSurfaceMesh, SurfacePolygon
    from mbcli.geometry.properties import (
        AddContactMaterial,
        GeometryProperties,
        IllustrationProperties,
        MakePhongIllustrationProperties,
        ProximityProperties,
        Role,
        RoleAssign,
    )
    from mbcli.geometry.query_object import QueryObject
    from mbcli.geometry.rgba import Rgba
    from mbcli.geometry.scalar_templates import (
        ContactSurface_,
        FramePoseVector_,
        GeometryConfigurationVector_,
        PenetrationAsPointPair_,
        PolygonSurfaceMesh_,
        QueryObject_,
        SceneGraph_,
        SceneGraphInspector_,
        SignedDistancePair_,
        SignedDistanceToPoint_,
    )
    from mbcli.geometry.scene_graph import SceneGraph
    from mbcli.geometry.shapes import (
        Box,
        Capsule,
        Convex,
        Cylinder,
        Ellipsoid,
        HalfSpace,
        HeightField,
        Mesh,
        MeshcatCone,
        Shape,
        Sphere,
    )
    from mbcli.geometry.surface_mesh import SurfaceTriangle, TriangleSurfaceMesh
    from mbcli.geometry.volume_mesh import VolumeElement, VolumeMesh

__all__ = [
    "AddCompliantHydroelasticProperties",
    "AddCompliantHydroelasticPropertiesForHalfSpace",
    "AddContactMaterial",
    "AddRigidHydroelasticProperties",
    "Box",
    "Capsule",
    "CollisionFilterDeclaration",
    "CollisionFilterManager",
    "ContactSurface",
    "Convex",
    "Cylinder",
    "DefaultProximityProperties",
    "Ellipsoid",
    "FilterId",
    "FrameId",
    "FramePoseVector",
    "GeometryConfigurationVector",
    "GeometryFrame",
    "GeometryId",
    "GeometryInstance",
    "GeometryProperties",
    "GeometrySet",
    "HalfSpace",
    "HeightField",
    "HydroelasticContactRepresentation",
    "IllustrationProperties",
    "MakePhongIllustrationProperties",
    "Mesh",
    "MeshcatCone",
    "PenetrationAsPointPair",
    "PolygonSurfaceMesh",
    "PolygonSurfaceMeshFieldLinear",
    "ProximityProperties",
    "QueryObject",
    "Rgba",
    "Role",
    "RoleAssign",
    "SceneGraph",
    "SceneGraphConfig",
    "SceneGraphInspector",
    "Shape",
    "SignedDistancePair",
    "SignedDistanceToPoint",
    "SourceId",
    "Sphere",
    "SurfacePolygon",
    "SurfaceTriangle",
    "TriangleSurfaceMesh",
    "TriangleSurfaceMeshFieldLinear",
    "VolumeElement",
    "VolumeMesh",
    "ContactSurface_",
    "FramePoseVector_",
    "GeometryConfigurationVector_",
    "PenetrationAsPointPair_",
    "PolygonSurfaceMesh_",
    "QueryObject_",
    "SceneGraphInspector_",
    "SceneGraph_",
    "SignedDistancePair_",
    "SignedDistanceToPoint_",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "mbcli.config.scene_graph_config": ("DefaultProximityProperties", "SceneGraphConfig"),
        "collision_filter_manager": ("CollisionFilterManager",),
        "collision_filters": ("CollisionFilterDeclaration", "GeometrySet"),
        "contact_pairs": ("PenetrationAsPointPair", "SignedDistancePair", "SignedDistanceToPoint"),
        "contact_representation": ("HydroelasticContactRepresentation",),
        "contact_surface": ("ContactSurface",),
        "frame_poses": ("FramePoseVector", "GeometryConfigurationVector"),
        "geometry_frame": ("GeometryFrame",),
        "geometry_instance": ("GeometryInstance",),
        "hydroelastic_properties": (
            "AddCompliantHydroelasticProperties",
            "AddCompliantHydroelasticPropertiesForHalfSpace",
            "AddRigidHydroelasticProperties",
        ),
        "identifiers": ("FilterId", "FrameId", "GeometryId", "SourceId"),
        "inspector": ("SceneGraphInspector",),
        "mesh_fields": ("PolygonSurfaceMeshFieldLinear", "TriangleSurfaceMeshFieldLinear"),
        "polygon_mesh": ("PolygonSurfaceMesh", "SurfacePolygon"),
        "properties": (
            "AddContactMaterial",
            "GeometryProperties",
            "IllustrationProperties",
            "MakePhongIllustrationProperties",
            "ProximityProperties",
            "Role",
            "RoleAssign",
        ),
        "query_object": ("QueryObject",),
        "scalar_templates": (
            "ContactSurface_",
            "FramePoseVector_",
            "GeometryConfigurationVector_",
            "PenetrationAsPointPair_",
            "PolygonSurfaceMesh_",
            "QueryObject_",
            "SceneGraphInspector_",
            "SceneGraph_",
            "SignedDistancePair_",
            "SignedDistanceToPoint_",
        ),
        "scene_graph": ("SceneGraph",),
        "shapes": (
            "Box",
            "Capsule",
            "Convex",
            "Cylinder",
            "Ellipsoid",
            "HalfSpace",
            "HeightField",
            "Mesh",
            "MeshcatCone",
            "Shape",
            "Sphere",
        ),
        "surface_mesh": ("SurfaceTriangle", "TriangleSurfaceMesh"),
        "rgba": ("Rgba",),
        "volume_mesh": ("VolumeElement", "VolumeMesh"),
    },
)
