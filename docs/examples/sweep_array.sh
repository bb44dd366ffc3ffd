#!/bin/bash
#SBATCH --array=1-3
#SBATCH --cpus-per-task=1
#SBATCH --requeue
# `sbatch sweep_array.sh` runs the parts of a sweep wherever there is room; without SLURM they run here one by one.
parts=3
part() {
    mbcli -q sweep sample_models/double_pendulum.urdf --vary "body.lower.mass=*uniform(0.8, 1.2)" --samples 12 -t 0.2 \
        --measure "max(abs(elbow))" --shard "$1/$parts" --jobs 1 --resume -o masses.csv
}
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
    part "$SLURM_ARRAY_TASK_ID"
else
    for k in $(seq "$parts"); do part "$k"; done
    mbcli sweep status masses.csv
    mbcli sweep merge masses.csv # on a cluster: after the array, `sbatch --dependency=afterok:JOB --wrap "mbcli sweep merge masses.csv"`
fi
