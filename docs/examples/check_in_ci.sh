# Check every model of a folder, as continuous integration does: exit code 1 if one has an error.
for model in sample_models/double_pendulum.urdf sample_models/cart_pole.sdf sample_models/quadruped.urdf; do
    mbcli check "$model" --fail-on error
done
mbcli check sample_models/quadruped.urdf --sarif -o findings.sarif # shown by code hosts beside the lines
