"""The arrays of solids and of the search for contact among them, declared once.

Sizes: nsolid solids, nround of them of finite size (balls, boxes, ...), nplane half spaces, nvertex, nedge, nface and
ncorner vertices, edges (both ways), faces and corners of faces of all convex hulls, nword words of a row of filters,
nown pairs with a law of their own, ngrained solids whose friction depends on the direction, nlevel sizes of cells,
nhead places for cells, npair pairs at most; nmesh meshes of contact surfaces with nnode nodes of their trees,
ntetrahedron tetrahedra and ntriangle triangles, nkept pairs of these that are near; nheight heights of all height
fields, ncandidate points where a solid may touch one. G is a solid's own frame.
"""

from mbcli.engine.fields.model_fields import Field

# kinds of solids; those of a pair are handled in this order
BALL, CAPSULE, BOX, CYLINDER, ELLIPSOID, CONVEX, HALF_SPACE, HEIGHT_FIELD = range(8)
# what a solid is for contact surfaces; those of a kind above NO_FIELD have a pressure field or are rigid
NO_FIELD, RIGID_SURFACE, SOFT_FIELD = range(3)
MESH_NONE, MESH_ELSEWHERE = -1, -2  # in mesh_of: a half space; one of several solids of a geometry, but not the first
# elements of counts; PAIR_A and PAIR_B are the solids of COLLISION_NO_SURFACE
COLLISION_PAIRS, COLLISION_STATUS, COLLISION_BUILT, COLLISION_SINGLE_POINTS = range(4)
COLLISION_FACES, COLLISION_STRICT, COLLISION_PAIR_A, COLLISION_PAIR_B, COLLISION_KEPT = range(4, 9)
COLLISION_BOUNCES, COLLISION_CANDIDATES = 9, 10  # whether some solid has a restitution; how many candidates there are
# values of counts[COLLISION_FACES]: which faces of contact surfaces become contacts
FACES_POLYGONS, FACES_TRIANGLES, FACES_LOADED = 0, 1, 2  # the last is a bit: none without stiffness
# bits of STATUS
COLLISION_TOO_MANY_PAIRS, COLLISION_TOO_MANY_POINTS, COLLISION_NO_SURFACE = 1, 2, 8  # 4: see SAMPLES_NO_ROW
COLLISION_NO_FUNCTION, COLLISION_TOO_MANY_CANDIDATES = 16, 32
# elements of addresses
COLLISION_AT_CONVEX, COLLISION_AT_TOUCHING, COLLISION_AT_SELF, COLLISION_AT_POINTS, COLLISION_AT_AHEAD = range(5)
COLLISION_AT_HEIGHTS = 5
COLLISION_NEEDED = -1.0  # in place of an address, with COLLISION_NO_FUNCTION
# elements of settings
COLLISION_MARGIN, COLLISION_SKIN, COLLISION_REACH = range(3)
# columns of bounce, of motion
BOUNCE_RESTITUTION, BOUNCE_THRESHOLD = range(2)
MOTION_V, MOTION_W, MOTION_TRAVEL = 0, 3, 6
# columns of mixing, of own_laws
MIXING_RULE, MIXING_PRIORITY, MIXING_DIMENSION = range(3)
LAW_FRICTION, LAW_STATIC, LAW_COVER, LAW_TORSION, LAW_ROLLING, LAW_ACROSS = range(6)
# columns of grain, of solids
GRAIN_DIRECTION, GRAIN_COEFFICIENT_ALONG, GRAIN_COEFFICIENT_ACROSS = 0, 3, 4
# columns of torsional, of solids and of contact points
TORSIONAL_SPIN, TORSIONAL_ROLLING = range(2)
# columns of soft: solref, solimp, solmix, what the body gives way [1/kg], impratio, negative of a pyramidal cone
SOFT_TIME, SOFT_RATIO, SOFT_FIRST, SOFT_LAST, SOFT_WIDTH, SOFT_MIDDLE, SOFT_POWER = range(7)
SOFT_MIX, SOFT_WEIGHT, SOFT_IMPRATIO, SOFT_NUMBERS = 7, 8, 9, 10
# columns of grid, of candidates; elements of triangle, of over
GRID_ROWS, GRID_COLUMNS, GRID_FIRST = range(3)
CANDIDATE_POINT, CANDIDATE_GAP, CANDIDATE_NORMAL, CANDIDATE_WEIGHT = 0, 3, 4, 7
TRIANGLE_ROW, TRIANGLE_COLUMN, TRIANGLE_SIGN, TRIANGLE_RIDGES, TRIANGLE_BASE = range(5)
OVER_LOW, OVER_HIGH, OVER_EXIT, OVER_LEAST, OVER_LAST, OVER_ACROSS, OVER_BEFORE, OVER_BEYOND = 0, 3, 6, 7, 8, 15, 17, 18
WORD = 62  # bits used of an integer

MOST_CORNERS = 64  # of a face, and of two faces clipped
MOST_NODES = 128  # that wait while two trees are descended, each of at most 50 levels
# columns of compliance, of relative
COMPLIANCE_MODULUS, COMPLIANCE_SLOPE = range(2)
RELATIVE_POSE, RELATIVE_SIZES = range(2)
# elements of meeting, of meeting_solids
MEETING_NORMAL, MEETING_SLOPE_S, MEETING_VALUE_S, MEETING_SLOPE_T = 0, 3, 6, 7
MEETING_A, MEETING_B, MEETING_S, MEETING_T, MEETING_FRAME, MEETING_PAIR = range(6)
EPA_POINTS, EPA_FACES = 256, 512

COLLISION_FIELDS = (
    # what never changes
    Field("kind", ("nsolid",), "int", "", "see above"),
    Field("body", ("nsolid",), "int", "", "body that the solid is fixed to"),
    Field("link", ("nsolid",), "int", "", "link of that body"),
    Field("X_BG", ("nsolid", 12), "real", "1, m", "pose of the solid in its body"),
    Field(
        "size",
        ("nsolid", 3),
        "real",
        "m",
        "half lengths, radii or semi-axes along x, y, z; capsules: without caps; height fields: x, y, base",
    ),
    Field(
        "rounding", ("nsolid",), "real", "m", "radius of balls and capsules, which are a point and a segment without"
    ),
    Field("center", ("nsolid", 3), "real", "m", "centre of the bounding ball and box in G"),
    Field("radius", ("nsolid",), "real", "m", "of the bounding ball"),
    Field("extent", ("nsolid", 3), "real", "m", "half lengths of the bounding box along the axes of G"),
    Field("material", ("nsolid", 5), "real", "N/m, s/m, s, 1", "stiffness, dissipation, relaxation, friction, static"),
    Field("bounce", ("nsolid", 2), "real", "1, m/s", "restitution, -1: as what it touches; threshold"),
    Field(
        "thickness", ("nsolid",), "real", "m", "half of the least length of its bounding box; infinite of half spaces"
    ),
    Field("cover", ("nsolid",), "real", "m", "how far outside of the solid it is touched"),
    Field("mixing", ("nsolid", 3), "int", "", "rule of friction: 0 as Drake, 1 as MuJoCo; priority, dimension there"),
    Field("torsional", ("nsolid", 2), "real", "m", "torsional and rolling friction"),
    Field(
        "soft",
        ("nsoft", SOFT_NUMBERS),
        "real",
        "s, 1, m, 1/kg",
        "under the law mujoco, else no rows: columns SOFT_...",
    ),
    Field("grained", ("ngrained",), "int", "", "solids whose friction depends on the direction"),
    Field("grain_body", ("nsolid",), "int", "", "of these the body that the direction turns with; -1 of others"),
    Field("grain", ("nsolid", 5), "real", "1", "unit vector in that body; coefficients along and across it"),
    Field("own_pairs", ("nown", 2), "int", "", "pairs of solids with a law of their own, sorted; the smaller first"),
    Field("own_laws", ("nown", 6), "real", "1, m", "laws of these: friction, static friction, ..., columns LAW_..."),
    Field(
        "own_soft",
        ("nownsoft", SOFT_MIX),
        "real",
        "s, 1, m",
        "of these: the first columns of soft",
    ),
    Field("filter_row", ("nsolid",), "int", "", "row and column of a solid in filters"),
    Field("filters", ("nfilter", "nword"), "int", "", "bit b of row a: solids of these rows do not touch"),
    Field("vertex_start", ("nsolid1",), "int", "", "first vertex of a convex hull, then its end"),
    Field("vertices", ("nvertex", 3), "real", "m", "in G"),
    Field("climb_start", ("nsolid", 8), "int", "", "the outermost vertex towards each octant"),
    Field("edge_start", ("nvertex1",), "int", "", "first edge of a vertex, then its end"),
    Field("edges", ("nedge",), "int", "", "vertex at the other end"),
    Field("face_start", ("nsolid1",), "int", "", "first face of a convex hull, then its end"),
    Field("face_normal", ("nface", 3), "real", "1", "outwards, in G"),
    Field("corner_start", ("nface1",), "int", "", "first corner of a face, then its end"),
    Field("corners", ("ncorner",), "int", "", "vertices, counterclockwise seen from outside"),
    Field("grid", ("nsolid", 3), "int", "", "of a height field: rows, along y, columns, along x, and its first height"),
    Field("heights", ("nheight",), "real", "m", "of height fields over z = 0 of G, row by row"),
    Field("field_kind", ("nsolid",), "int", "", "NO_FIELD, RIGID_SURFACE or SOFT_FIELD"),
    Field("mesh_of", ("nsolid",), "int", "", "mesh of its field or surface, MESH_NONE or MESH_ELSEWHERE"),
    Field("compliance", ("nsolid", 2), "real", "Pa, Pa/m", "modulus (infinite if rigid); slope of a soft half space"),
    Field("mesh_root", ("nmesh",), "int", "", "first node of each mesh's tree"),
    Field("node_box", ("nnode", 6), "real", "m", "centre and half lengths of a box along the axes of G"),
    Field("node_children", ("nnode", 2), "int", "", "two nodes, or -1 and a tetrahedron or triangle"),
    Field("tetrahedra", ("ntetrahedron", 12), "real", "m", "four corners in G"),
    Field("tetrahedron_planes", ("ntetrahedron", 16), "real", "1, m", "normal outwards and offset of four sides"),
    Field("tetrahedron_field", ("ntetrahedron", 4), "real", "1/m, 1", "gradient of pressure / modulus, value at Go"),
    Field("triangles", ("ntriangle", 12), "real", "m, 1", "three corners, normal outwards, in G"),
    Field("planes", ("nplane",), "int", "", "half spaces"),
    Field("rounds", ("nround",), "int", "", "the other solids, the largest first"),
    Field("level", ("nround",), "int", "", "level of each of these: those of one level share the size of their cells"),
    Field("level_cells", ("nlevel",), "real", "1/m", "one over the size of cells; 0 where one cell has all"),
    Field("settings", (3,), "real", "m", "see above"),
    Field("addresses", (6,), "real", "", "of functions, 0 until compiled; of these arrays; of contact points"),
    # what is known of the present state
    Field("counts", (11,), "int", "", "see above"),
    Field("X_WG", ("nsolid", 12), "real", "1, m", "pose of each solid"),
    Field("p_WC", ("nsolid", 3), "real", "m", "centre of each solid"),
    Field("grain_W", ("nsolid", 3), "real", "1", "direction of friction in W, of those that have one"),
    Field("motion", ("nsolid", 7), "real", "m/s, rad/s, m", "of a step: velocity of the centre in W, w, travel"),
    Field("built_at", ("nsolid", 3), "real", "m", "the same when pairs were found"),
    Field("pairs", ("npair", 2), "int", "", "solids whose bounding balls are near, sorted; the smaller index first"),
    Field("kept_count", ("npair",), "int", "", "elements of two meshes that are near; -1: not known"),
    Field("kept_start", ("npair",), "int", "", "first of them in kept"),
    Field("kept_pose", ("npair", 12), "real", "1, m", "relative when they were found"),
    Field("kept", ("nkept", 2), "int", "", "elements of S and of T"),
    Field("nearest", (9,), "real", "1, m", "of a pair: normal from B into A, point of A, point of B"),
    # work
    Field("placed", (2, 15), "real", "1, m", "X_WG and p_WC of two solids at the start of a step"),
    Field("heads", ("nhead",), "int", "", "last of the rounds entered in a cell, -1 for none"),
    Field("followers", ("nround",), "int", "", "the one entered before, -1 for none"),
    Field("cells", ("nround", 4), "int", "", "cell of each of the rounds, and its level"),
    Field("points", (EPA_POINTS, 9), "real", "m", "a - b for points a of A and b of B, then a, then b"),
    Field("weights", (4,), "real", "1", "of the points of a simplex in its point nearest to the origin"),
    Field("facets", (EPA_FACES, 3), "int", "", "points of each face of a polytope; -1: none"),
    Field("facet_planes", (EPA_FACES, 4), "real", "1, m", "normal and distance from the origin"),
    Field("horizon", (EPA_FACES, 2), "int", "", "edges of a hole"),
    Field("work", (3, 3), "real", "m", "a facet seen from a point of it"),
    Field("polygons", (4, MOST_CORNERS, 3), "real", "m", "faces of A and B that face each other, then work"),
    Field("nodes_left", (MOST_NODES, 2), "int", "", "pairs of nodes that are still to be looked at"),
    Field("meeting", (10,), "real", "1, Pa/m, Pa", "normal of a face out of T into S, gradient and value of S, of T"),
    Field(
        "meeting_solids",
        (6,),
        "int",
        "",
        "A and B; the soft one S, and T; the frame of meeting; their pair",
    ),
    Field("relative", (2, 12), "real", "1, m", "pose of solid T in S, and the absolute values of its rotation"),
    Field("touching", (MOST_CORNERS, 4), "real", "m, 1", "points of B's or A's face, and distance from the other"),
    Field("triangle", (5,), "int", "", "of a height field: its right angle, +1 or -1, see height_prisms.py"),
    Field(
        "over",
        (19,),
        "real",
        "m",
        "a solid over a height field: its bounds in G, least way out, least gap, a candidate",
    ),
    Field("candidates", ("ncandidate", 8), "real", "m, 1", "point of a height field, gap, normal out of it, weight"),
)
