"""Collision detection: the places where solids of a model are near each other.

`broad_phase.py` keeps the pairs of solids whose bounding balls are near. `nearest.py` finds distance, normal and
nearest points of a pair: closed forms in `segments.py` and `boxes.py`, else `gjk.py` and `epa.py`.

`manifold.py` finds the points where a face rests on a face, `find_contacts.py` runs them all and gives contact points.
`fields.py` says what is in the arrays, `arrays.py` makes them. All this knows bodies as places that solids are fixed
to, and nothing of forces.
"""
