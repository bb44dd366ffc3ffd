"""Parts of pydrake.common: random words, densities, sums of files, dicts of formulas, distributions as expressions."""

import copy
import pickle
from enum import Enum

import numpy as np
import pytest
import sympy

from mbcli.autodiffutils import AutoDiffXd
from mbcli.common import (
    CalcProbabilityDensity,
    MemoryFile,
    Parallelism,
    RandomDistribution,
    RandomGenerator,
    Sha256,
)
from mbcli.common.containers import EqualToDict
from mbcli.common.schema import GaussianVector, Rotation, Transform, Uniform, UniformDiscrete, UniformVector
from mbcli.common.value import Value
from mbcli.math import RigidTransform, RollPitchYaw


def test_words_are_those_that_the_standard_of_cpp_demands():
    generator = RandomGenerator()
    assert generator() == 3499211612
    for _ in range(9998):
        generator()
    assert generator() == 4123659995  # the 10,000th, [rand.predef]


def test_densities_are_products_and_have_derivatives():
    x = [0.5, 1.0]
    assert CalcProbabilityDensity(RandomDistribution.kUniform, [0.5, 0.0]) == 1.0
    assert CalcProbabilityDensity(RandomDistribution.kUniform, x) == 0.0
    assert CalcProbabilityDensity(RandomDistribution.kExponential, x) == pytest.approx(np.exp(-1.5))
    gauss = CalcProbabilityDensity(
        RandomDistribution.kGaussian, [AutoDiffXd(0.5, [1.0, 0.0]), AutoDiffXd(1.0, [0.0, 1.0])]
    )
    assert gauss.value() == pytest.approx(np.exp(-0.625) / (2.0 * np.pi))
    np.testing.assert_allclose(gauss.derivatives(), [-0.5 * gauss.value(), -gauss.value()])


def test_files_in_memory_have_sums_and_are_pickled(tmp_path):
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2
    assert Sha256.Parse(abc) == Sha256.Checksum("abc") > Sha256() and Sha256.Parse("abc") is None
    (tmp_path / "a.OBJ").write_bytes(b"abc")
    file = MemoryFile.Make(tmp_path / "a.OBJ")
    for other in (file, pickle.loads(pickle.dumps(file)), copy.deepcopy(file)):
        assert (other.contents(), other.extension(), other.sha256()) == (b"abc", ".obj", Sha256.Checksum("abc"))
    with pytest.raises(RuntimeError, match="begin with a dot"):
        MemoryFile(b"", "obj")


def test_threads_are_counted(monkeypatch):
    monkeypatch.setenv("DRAKE_NUM_THREADS", "3")
    assert [Parallelism(n).num_threads() for n in (False, True, 1, 5)] == [1, 3, 1, 5]
    for wrong, error in ((0.5, TypeError), (0, RuntimeError)):
        with pytest.raises(error):
            Parallelism(wrong)


def test_keys_are_equal_where_they_say_so():
    class Formula:
        def __init__(self, name):
            self.name = name

        def __hash__(self):
            return hash(self.name)

        def __eq__(self, other):
            raise AssertionError("makes a formula")

        def EqualTo(self, other):
            return self.name == other.name

    found = EqualToDict({Formula("a"): 1, Formula("b"): 2})
    found[Formula("a")] = 3
    assert found[Formula("a")] == 3 and found.get(Formula("b")) == 2 and Formula("c") not in found and 1 not in found
    for pairs in (found.raw().items(), found.items(), zip(found, found.values(), strict=True)):
        assert sorted((key.name, value) for key, value in pairs) == [("a", 3), ("b", 2)]
    assert found.setdefault(Formula("b"), 5) == 2 and found.pop(Formula("a")) == 3 and len(found) == 1


def test_holders_are_of_the_type_of_their_object():
    assert isinstance(Value("a"), Value[str]) and not isinstance(Value(1), Value[str])
    assert Value[str] == Value[str] and type(Value[str]("a")) is Value


def test_distributions_are_expressions_of_independent_variables(monkeypatch):
    class Variables:
        Type = Enum("Type", ["RANDOM_UNIFORM", "RANDOM_GAUSSIAN"])

        def __call__(self, name, kind):
            made.append(sympy.Symbol(f"{name}"))
            return made[-1]

    made = []
    monkeypatch.setattr("mbcli.symbolic.Variable", Variables())
    vector = GaussianVector([1.0, 2.0], [0.5]).ToSymbolic()
    assert list(vector) == [1.0 + 0.5 * made[0], 2.0 + 0.5 * made[1]] and made[0] != made[1]
    values = UniformDiscrete([1.0, 2.0, 4.0]).ToSymbolic()
    assert [float(values.subs(made[2], u)) for u in (0.1, 0.5, 0.9)] == [1.0, 2.0, 4.0]
    turned = Rotation.AngleAxis(Uniform(0.0, 90.0), [0, 0, 1]).ToSymbolic().matrix()
    assert float(turned[0, 0].subs(made[3], 0.5)) == pytest.approx(np.cos(np.pi / 4))
    uniform = Rotation(Rotation.Uniform()).ToSymbolic().matrix()
    numbers = np.array(
        [[float(e.subs(dict(zip(made[4:], (0.2, 0.3, 0.4), strict=True)))) for e in row] for row in uniform]
    )
    np.testing.assert_allclose(numbers @ numbers.T, np.eye(3), atol=1e-12)


def test_poses_are_made_of_transforms_and_can_be_set():
    X = RigidTransform(RollPitchYaw(0.1, 0.2, 0.3), [1.0, 2.0, 3.0])
    pose = Transform(X)
    np.testing.assert_allclose(pose.GetDeterministicValue().GetAsMatrix4(), X.GetAsMatrix4(), atol=1e-15)
    other = Transform(other=pose)
    other.set_rotation_rpy_deg([0.0, 0.0, 90.0])
    other.rotation.value.deg = [0.0, 0.0, 180.0]
    other.translation = UniformVector([0.0] * 3, [1.0] * 3)
    np.testing.assert_allclose(other.Mean().rotation().matrix(), np.diag([-1.0, -1.0, 1.0]), atol=1e-15)
    assert not other.IsDeterministic() and pose.IsDeterministic()
    with pytest.raises(RuntimeError, match="3 numbers are wanted, there are 2"):
        UniformVector[3]([0.0] * 2, [1.0] * 2)
