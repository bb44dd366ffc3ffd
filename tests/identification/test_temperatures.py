"""Viscous friction that changes with temperatures comes back, and is chosen where the data ask for it."""

import zlib

import numpy as np
import pytest

from benchmarks.identification_sets import BASE, RATE, SECONDS, Arm, harmonics
from mbcli.errors import ModelError
from mbcli.identification.identify import Settings, identify

TERMS = ("viscous", "coulomb", "offset", "temperature")


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    return Arm(3, str(tmp_path_factory.mktemp("arm")))


def recording(arm, path, name, change, own=False, warm=True):
    """A motion in which joints warm up and cool down by 10 K; change: of viscous friction by 1 K, relative."""
    seed = zlib.crc32(name.encode())
    t, q, v, vdot = harmonics(arm, seed, SECONDS, BASE, int(SECONDS * RATE))
    rng = np.random.default_rng(seed)
    celsius = 30.0 + 10.0 * np.sin(0.9 * t[:, None] + (np.arange(arm.joints) if own else 0.0))
    tau = arm.efforts(q, v, vdot) + arm.viscous * change * (celsius - celsius.mean(axis=0)) * v
    tau = tau + 0.005 * np.sqrt((tau**2).mean(axis=0)) * rng.normal(size=tau.shape)
    columns = {"time": t} | {f"q:{n}": q[:, k] for k, n in enumerate(arm.names)}
    columns |= {f"tau:{n}": tau[:, k] for k, n in enumerate(arm.names)}
    if warm and own:
        columns |= {f"u:{n}.temperature": celsius[:, k] for k, n in enumerate(arm.names)}
    elif warm:
        columns["u:temperature"] = celsius[:, 0]
    np.savetxt(path, np.column_stack(list(columns.values())), "%.9g", ",", header=",".join(columns), comments="")
    return str(path)


@pytest.mark.parametrize("own", [False, True])
def test_the_change_of_friction_with_temperature_comes_back(own, arm, tmp_path):
    data, unseen = (recording(arm, tmp_path / f"{n}.csv", n, -0.04, own) for n in ("warm", "other"))
    result = identify(arm.plant, [data], [unseen], settings=Settings(frictions=TERMS))
    found = {p.name: (x, e) for p, x, e in zip(result.subject.parameters, result.x, result.errors, strict=True)}
    for k, name in enumerate(arm.names):
        value, error = found[f"{name}.temperature"]
        assert abs(value + 0.04 * arm.viscous[k]) < 3.0 * error < 0.04 * arm.viscous[k]
        assert found[f"{name}.viscous"][0] == pytest.approx(arm.viscous[k], rel=0.1)
    without = identify(arm.plant, [data], [unseen])
    assert result.figures["validation"] < 0.8 * without.figures["validation"]


def test_evidence_takes_temperatures_where_they_count_alone(arm, tmp_path):
    for name, change, wanted in (("warm", -0.04, "temperature"), ("cold", 0.0, "coulomb")):
        data = recording(arm, tmp_path / f"{name}.csv", name, change)
        laws = identify(arm.plant, [data], settings=Settings(by_evidence=True)).laws
        assert [law.law for law in laws] == [wanted] * arm.joints, laws


def test_data_without_temperatures_are_refused_only_if_they_are_asked_for(arm, tmp_path):
    data = recording(arm, tmp_path / "bare.csv", "bare", 0.0, warm=False)
    with pytest.raises(ModelError, match="no temperatures: columns u:temperature or u:JOINT.temperature"):
        identify(arm.plant, [data], settings=Settings(frictions=TERMS))
    assert "temperature" not in identify(arm.plant, [data], settings=Settings(by_evidence=True)).laws[0].errors
