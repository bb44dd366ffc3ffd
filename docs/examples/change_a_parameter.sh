# What does ten percent more mass do? The first divergence, and the largest difference.
run="mbcli -q simulate sample_models/double_pendulum.urdf --at elbow=1 -t 1 --no-contact"
$run -o before.h5
$run -o after.h5 --set body.lower.mass=*1.1
mbcli log diff before.h5 after.h5 --fields q || test $? = 1 # 1: they differ
