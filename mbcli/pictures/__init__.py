"""Pictures of models and of runs: one scene description, and its readers.

scene           Scene and Motion: bodies, shapes, frames, joints, poses over time, contacts
model_scene     the scene of a plant
log_scene       the scene and the motion of a log
resolved_plant  a plant for kinematics from the resolved model of a log
framing         what a picture is fitted to, and what its camera follows
cameras         from where a picture is taken
shape_surfaces  the triangles of shapes
packing         scenes and motions as bytes
html            pages with scenes in them; page/ has their scripts
web_server      a server for one page on this machine
live_model      a model that is looked at while its files are edited
images          PNG files and videos
chromium        a headless browser that draws pages
drawn_images    images by matplotlib, where there is no browser
plots           columns of logs over time, as figures
text_plots      the same for terminals
"""
