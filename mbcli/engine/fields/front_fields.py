"""Columns of the table of fronts of a sparse factorization (engine/deformable/block_fronts.py)."""

# own numbers and first of them, tiles of own numbers and of the rest, where the own rows and the rest are in values,
# vertices of the rest and where they start in rest, blocks and children from here to those of the next front
(
    FRONT_OWN,
    FRONT_FIRST,
    FRONT_TILES,
    FRONT_REST_TILES,
    FRONT_AT,
    FRONT_LEFT,
    FRONT_REST,
    FRONT_REST_START,
    FRONT_BLOCKS,
    FRONT_CHILDREN,
) = range(10)
FRONT_NUMBERS = 10
BLOCK_OF_SPOTS = 9  # column of the table of spots

# numbers of the meetings of two threads: how many parts there are; those of a part, from one to those of the next, on
# cache lines of their own, as the first ones may share theirs; of these that of a failure
MEETING_PARTS, MEETING_SLOT, MEETING_FAILURE, MEETING_NUMBERS = 0, 8, 1, 32
