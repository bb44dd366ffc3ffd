"""Plants over time: the loops that run one, and what a context needs for its steps.

run              Run: blocks of samples from the time loops of the engine
python_forces    the loops with forces that only Python knows
energy_balance   what did work in a run
meeting_contact  how a state gets ready to meet contact
step_contact     contact of a discrete plant: its solver and solids
point_contact    contact of a continuous plant
contact_arrays   what both have in common
cut_joints       joints that close loops: what they have and cannot do
missing_mass     joints that move nothing with mass
"""
