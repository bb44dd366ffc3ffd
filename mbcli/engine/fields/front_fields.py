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

# the barrier of two threads: where the number of threads is; how many numbers each of them has, a cache line (the first
# line may be shared with other data); which of these is the failure; the size of the array
BARRIER_PARTS, BARRIER_SLOT, BARRIER_FAILURE, BARRIER_NUMBERS = 0, 8, 1, 32
