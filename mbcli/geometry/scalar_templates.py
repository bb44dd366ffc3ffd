"""X_[T] of what geometry queries take and give, and of SceneGraph."""

from mbcli.geometry.contact_pairs import PenetrationAsPointPair, SignedDistancePair, SignedDistanceToPoint
from mbcli.geometry.contact_surface import ContactSurface
from mbcli.geometry.frame_poses import FramePoseVector, GeometryConfigurationVector
from mbcli.geometry.inspector import SceneGraphInspector
from mbcli.geometry.polygon_mesh import PolygonSurfaceMesh
from mbcli.geometry.query_object import QueryObject
from mbcli.geometry.scene_graph import SceneGraph
from mbcli.math.scalar_template import ScalarTemplate

ContactSurface_ = ScalarTemplate(ContactSurface)
FramePoseVector_ = ScalarTemplate(FramePoseVector)
GeometryConfigurationVector_ = ScalarTemplate(GeometryConfigurationVector)
PenetrationAsPointPair_ = ScalarTemplate(PenetrationAsPointPair)
PolygonSurfaceMesh_ = ScalarTemplate(PolygonSurfaceMesh)
QueryObject_ = ScalarTemplate(QueryObject)
SceneGraphInspector_ = ScalarTemplate(SceneGraphInspector)
SceneGraph_ = ScalarTemplate(SceneGraph)
SignedDistancePair_ = ScalarTemplate(SignedDistancePair)
SignedDistanceToPoint_ = ScalarTemplate(SignedDistanceToPoint)
