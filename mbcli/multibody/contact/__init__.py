"""Contact of one context: how a state gets ready for it, in steps and at an instant, with deformable bodies and sleep.

meeting_contact  how a state gets ready to meet contact
step_contact     contact of a discrete plant: its solver and solids
point_contact    contact of a continuous plant
contact_arrays   what both have in common
contact_groups   contacts by pairs of geometries
elastic_*        deformable bodies in a step
sleep            which islands of a run rest
python_forces    what in a plant only Python can evaluate
"""
