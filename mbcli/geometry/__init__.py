"""Shapes, their registration and queries about them, under the names of pydrake.geometry."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.config.scene_graph_config import (
        DefaultProximityProperties as DefaultProximityProperties,
        SceneGraphConfig as SceneGraphConfig,
    )
    from mbcli.geometry.collision_filter_manager import CollisionFilterManager as CollisionFilterManager
    from mbcli.geometry.collision_filters import (
        CollisionFilterDeclaration as CollisionFilterDeclaration,
        GeometrySet as GeometrySet,
    )
    from mbcli.geometry.contact_pairs import (
        PenetrationAsPointPair as PenetrationAsPointPair,
        SignedDistancePair as SignedDistancePair,
        SignedDistanceToPoint as SignedDistanceToPoint,
    )
    from mbcli.geometry.contact_representation import (
        HydroelasticContactRepresentation as HydroelasticContactRepresentation,
    )
    from mbcli.geometry.contact_surface import ContactSurface as ContactSurface
    from mbcli.geometry.frame_poses import (
        FramePoseVector as FramePoseVector,
        GeometryConfigurationVector as GeometryConfigurationVector,
    )
    from mbcli.geometry.geometry_frame import GeometryFrame as GeometryFrame
    from mbcli.geometry.geometry_instance import GeometryInstance as GeometryInstance
    from mbcli.geometry.hydroelastic_properties import (
        AddCompliantHydroelasticProperties as AddCompliantHydroelasticProperties,
        AddCompliantHydroelasticPropertiesForHalfSpace as AddCompliantHydroelasticPropertiesForHalfSpace,
        AddRigidHydroelasticProperties as AddRigidHydroelasticProperties,
    )
    from mbcli.geometry.identifiers import (
        FilterId as FilterId,
        FrameId as FrameId,
        GeometryId as GeometryId,
        SourceId as SourceId,
    )
    from mbcli.geometry.inspector import SceneGraphInspector as SceneGraphInspector
    from mbcli.geometry.mesh_fields import (
        PolygonSurfaceMeshFieldLinear as PolygonSurfaceMeshFieldLinear,
        TriangleSurfaceMeshFieldLinear as TriangleSurfaceMeshFieldLinear,
    )
    from mbcli.geometry.polygon_mesh import PolygonSurfaceMesh as PolygonSurfaceMesh, SurfacePolygon as SurfacePolygon
    from mbcli.geometry.properties import (
        AddContactMaterial as AddContactMaterial,
        GeometryProperties as GeometryProperties,
        IllustrationProperties as IllustrationProperties,
        MakePhongIllustrationProperties as MakePhongIllustrationProperties,
        ProximityProperties as ProximityProperties,
        Role as Role,
        RoleAssign as RoleAssign,
    )
    from mbcli.geometry.query_object import QueryObject as QueryObject
    from mbcli.geometry.rgba import Rgba as Rgba
    from mbcli.geometry.scalar_templates import (
        ContactSurface_ as ContactSurface_,
        FramePoseVector_ as FramePoseVector_,
        GeometryConfigurationVector_ as GeometryConfigurationVector_,
        PenetrationAsPointPair_ as PenetrationAsPointPair_,
        PolygonSurfaceMesh_ as PolygonSurfaceMesh_,
        QueryObject_ as QueryObject_,
        SceneGraph_ as SceneGraph_,
        SceneGraphInspector_ as SceneGraphInspector_,
        SignedDistancePair_ as SignedDistancePair_,
        SignedDistanceToPoint_ as SignedDistanceToPoint_,
    )
    from mbcli.geometry.scene_graph import SceneGraph as SceneGraph
    from mbcli.geometry.shapes import (
        Box as Box,
        Capsule as Capsule,
        Convex as Convex,
        Cylinder as Cylinder,
        Ellipsoid as Ellipsoid,
        HalfSpace as HalfSpace,
        HeightField as HeightField,
        Mesh as Mesh,
        MeshcatCone as MeshcatCone,
        Shape as Shape,
        Sphere as Sphere,
    )
    from mbcli.geometry.surface_mesh import (
        SurfaceTriangle as SurfaceTriangle,
        TriangleSurfaceMesh as TriangleSurfaceMesh,
    )
    from mbcli.geometry.volume_mesh import VolumeElement as VolumeElement, VolumeMesh as VolumeMesh
