"""Many runs of one model with other parameters, settings and starts, and one table of what came of them.

    from mbcli.sweeps import sweep

    table = sweep("arm.urdf", {"joint.elbow.damping": [0.1, 0.2, 0.5]}, duration=2.0, measures=["max(elbow)"])
    table.column("max(elbow)"), table.rows[0]["status"]

variations     what varies: lists, ranges and distributions, as text or in Python
points         the points of a sweep: grid, list, Latin hypercube, Monte Carlo
measures       a small language of figures of a run: max(abs(elbow)), time_of(trunk_z < 0.2)
point_run      one point: a run of a model that stays loaded, and its row
messages       jobs and points as JSON
worker         the process of a local worker
local_workers  workers on this machine, which may be killed
cases          what is left of it, and what is tried again
bundle         what a job needs, as one file for machines that share nothing
packed_sweep   a whole sweep as one file
carried_files  where URIs lead, recorded on one machine and given on another
clusters       batches of cases on a cluster
tasks          a batch, on a worker
dask_workers   workers of a Dask cluster (extra `dask`)
ray_workers    those of a Ray cluster (extra `ray`)
shards         parts of a sweep that run apart
status         how far a sweep is
kept_rows      rows of finished points, and what there is of them
journal        the same on disk, with checksums
stores         where outputs lie: files, or objects of a store (extra `s3`)
stored_lines   the lines of a journal in a store
result_table   the table, as CSV and Parquet (extra `parquet`)
data_set       the table as a folder of Parquet files, written while runs end
plot           a result against parameters (extra `plot`)
sweeping       sweep(): all of it
"""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.sweeps.result_table import ResultTable as ResultTable
    from mbcli.sweeps.sweeping import SweepProgress as SweepProgress, sweep as sweep
