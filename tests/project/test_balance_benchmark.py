"""What the benchmark of balances rests on: true drifts of closed chains, and what runs tell of them."""

import re

import numpy as np
import pytest

from benchmarks.balances import CHAINS, WAYS, Result, Way, run, start_of, verdict
from mbcli.simulation import simulate


def start(name):
    return start_of(CHAINS[name](Way(0.0)), np.random.default_rng(1), 3.0)


def test_what_constraints_lose_in_contact_problems_is_told_as_an_error():
    """Equations do no work: what contact problems book to them belongs to the steps."""
    said = []
    log = simulate(
        CHAINS["andrews"](WAYS["dt 0.001 lagged"]), 1.0, start=start("andrews"), balance=True, warn=said.append
    )
    assert abs(log.summary.balance["constraints"]) > 5.0 * abs(log.summary.balance["rest"])
    (line,) = (str(words) for words in said if "error of the integration" in str(words))
    told = float(re.search(r"integration is (\S+) J", line).group(1))
    assert told == pytest.approx(log.summary.energy_drift, rel=0.01)


@pytest.mark.parametrize("way", ["dt 0.005", "dt 0"])
@pytest.mark.parametrize("name", ["parallelogram", "crank and rocker", "stewart"])
def test_a_balance_names_the_drift_of_the_energy(name, way):
    result = run(CHAINS[name], WAYS[way], start(name), 1.0)
    assert result.share(result.error - result.drift) < 1e-5 and verdict(result) == ""


def test_a_verdict_knows_a_false_warning_and_a_drift_that_is_untold():
    good = Result(10.0, 10.0, drift=0.2, largest=0.2, error=0.2, told=True)
    assert verdict(good) == ""
    assert verdict(good._replace(told=False)) == "untold drift"
    assert verdict(good._replace(drift=0.01, largest=0.01)) == "false warning"
