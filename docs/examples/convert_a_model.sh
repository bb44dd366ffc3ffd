# URDF to SDFormat: a list of what the other format cannot say, and a proof that the mechanism is the same.
mbcli convert sample_models/double_pendulum.urdf -o arm.sdf
mbcli inspect arm.sdf --tree text
