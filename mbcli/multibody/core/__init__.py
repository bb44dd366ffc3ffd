"""The core of a plant: its elements, settings and arrays, and what is computed from them; plant_core.py has it whole.

`mbcli.multibody.plant` is its face, under the names of pydrake.multibody.plant.
"""
