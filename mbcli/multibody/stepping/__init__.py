"""Plants over time.

run                Run: blocks of samples from the time loops of the engine
energy_balance     what did work in a run
compliance_energy  what compliant contact stores
missing_mass       joints that move nothing with mass
not_finite         why a run ended with numbers that are not finite
stiffness          which stiffness is too large for a step
"""
