"""Plain Dask with a function of three lines, for benchmarks.clusters: ADDRESS MODEL CASES SECONDS."""

import resource
import sys

import numpy as np
from distributed import Client

_loaded = {}


def run(elbow, model, seconds):
    """The last position of a run; a worker loads the model once."""
    from mbcli import load_model, simulate

    loaded = _loaded.get(model) or _loaded.setdefault(model, load_model(model, contact=True))
    return simulate(loaded, seconds, start={"elbow": elbow}).q[-1].tolist()


def main(address, model, count, seconds):
    """Maps it over starts."""
    starts = np.random.default_rng(0).uniform(-1.0, 1.0, int(count))
    with Client(address) as client:
        futures = client.map(run, starts, model=model, seconds=float(seconds))
        assert len(client.gather(futures)) == int(count)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
