"""Derivatives of a plant's motion and outputs by its state and inputs.

motion_derivatives     A, B, C, D, in closed form or by complex steps
closed_form_motion     motion without contact, its derivatives in closed form
contact_motion         the velocities after a step in contact, and theirs
motion_on_constraints  what of a motion is on the constraints
"""
