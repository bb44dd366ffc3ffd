# A run in two parts has the rows of a run in one; and a log can be run again from its own record.
mbcli -q simulate sample_models/double_pendulum.urdf --at elbow=1 -t 2 --no-contact -o whole.h5
mbcli -q simulate sample_models/double_pendulum.urdf --at elbow=1 -t 1 --no-contact -o parts.h5
mbcli -q simulate --resume parts.h5 -t 2
mbcli log diff whole.h5 parts.h5
mbcli log verify parts.h5
