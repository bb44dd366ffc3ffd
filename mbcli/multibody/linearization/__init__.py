"""Derivatives of a plant's motion and outputs by its state and inputs.

motion_derivatives     A, B, C, D: which way gives them
plant_values           state and inputs as numbers
step_of_run            the step of a discrete plant, as a run takes it
closed_form_motion     motion without contact, its derivatives in closed form
contact_motion         the velocities after a step in contact, and theirs
differences            those of a step by differences, and whether it has some
motion_on_constraints  what of a motion is on the constraints
"""
