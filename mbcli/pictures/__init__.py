"""Pictures of models and of runs: one scene description, and its readers.

scene           Scene and Motion: bodies, shapes, frames, joints, poses over time, contacts
model_scene     the scene of a plant
packing         scenes and motions as bytes
html            pages with scenes in them; page/ has their scripts
web_server      a server for one page on this machine
live_model      a model that is looked at while its files are edited
"""
