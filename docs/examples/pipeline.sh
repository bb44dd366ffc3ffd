# Torques that a recorded motion needs: simulate, take the rows out, compute, keep a table with names.
mbcli -q simulate sample_models/double_pendulum.urdf --at elbow=1 -t 1 --no-contact -o run.h5
mbcli log export run.h5 --to csv --fields q,v |
    mbcli -q inverse-dynamics sample_models/double_pendulum.urdf --states - --vdot differentiate --format csv > torques.csv
head -3 torques.csv
