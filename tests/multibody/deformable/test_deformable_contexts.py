"""Contexts of plants with deformable bodies: copies, states set between steps, and the errors of their steps."""

import warnings

import numpy as np
import pytest
from repository import SAMPLES
from test_deformable_steps import G, Scene

from mbcli.engine.fields.contact_fields import SETTING_MOST_ITERATIONS
from mbcli.engine.runtime.kernel import ENTRIES, argument_types
from mbcli.errors import NumericalError
from mbcli.models.loading import load_model
from mbcli.multibody.contact import elastic_solution
from mbcli.multibody.contact.elastic_factor import BlockCholesky
from mbcli.multibody.stepping.run import Run


def test_a_copy_of_a_context_has_the_contacts_of_the_last_step(tmp_path):
    scene = Scene(tmp_path)
    scene.box([0, 0, 0.1], cells=2)
    scene.start().to(0.05)
    port = scene.plant.get_contact_results_output_port()
    ours, copied = (port.Eval(context) for context in (scene.context, scene.context.Clone()))
    assert ours.num_deformable_contacts() == copied.num_deformable_contacts() == 1
    forces = [results.deformable_contact_info(0).F_Ac_W().translational() for results in (ours, copied)]
    assert forces[0][2] > 10.0
    np.testing.assert_array_equal(*forces)


def test_steps_call_kernels_with_the_arguments_that_are_compiled_before(tmp_path):
    """So that the kernels of a wheel, which take these alone, are called too."""
    scene = Scene(tmp_path)
    scene.box([0, 0, 0.1], cells=2, name="lower")
    scene.box([0, 0, 0.3005], cells=2, name="upper")
    context = scene.start().plant.CreateDefaultContext()
    run = Run(scene.plant, context, 0.02)
    run.compile()
    kernels, normalize_signature = context.state.kernels, pytest.importorskip("numba.core.sigutils").normalize_signature
    if not hasattr(kernels.solve_elastic_problem, "signatures"):
        pytest.skip("kernels are interpreted or precompiled")
    assert kernels.solve_elastic_problem.signatures and kernels.solve_problem_again.signatures
    for _ in run.blocks():
        pass
    for function in (
        f for f in ENTRIES if f.__module__.rpartition(".")[0].endswith("deformable") or "elastic" in f.__module__
    ):
        kernel = getattr(kernels, function.__name__)
        expected, _ = normalize_signature(f"({', '.join(argument_types(function)[0])},)")
        assert all(tuple(given) == expected for given in kernel.signatures), function.__name__
    assert kernels.samples_in_surface.signatures


def test_a_copy_of_a_context_goes_on_to_the_same_state(tmp_path):
    scene = Scene(tmp_path)
    id = scene.box([0, 0, 0.1], cells=2)
    scene.start().to(0.05)
    copied = scene.context.Clone()
    scene.to(0.1)
    for _ in Run(scene.plant, copied, 0.1).blocks():
        pass
    np.testing.assert_array_equal(scene.model.GetPositions(copied, id), scene.model.GetPositions(scene.context, id))


def test_states_are_not_copied_between_plants_with_other_meshes(tmp_path):
    coarse, fine = Scene(tmp_path), Scene(tmp_path)
    coarse.box([0, 0, 0.1], cells=1)
    fine.box([0, 0, 0.1], cells=2)
    with pytest.raises(RuntimeError, match="different deformable bodies"):
        coarse.start().context.SetTimeStateAndParametersFrom(fine.start().context)


def test_a_wall_takes_its_vertices_back(tmp_path):
    scene = Scene(tmp_path, ground="none")
    id = scene.box([0, 0, 0], cells=2)
    scene.model.SetWallBoundaryCondition(id, [0, 0, 0.099], [0, 0, -1])
    scene.start()
    reference = scene.q(id).copy()
    held = reference[:, 2] > 0.099
    scene.model.SetPositions(scene.context, id, (reference + [0.0, 0.0, 0.05]).T)
    scene.model.SetVelocities(scene.context, id, np.ones_like(reference.T))
    scene.to(0.01)  # pydrake: the same
    np.testing.assert_array_equal(scene.q(id)[held], reference[held])
    assert not scene.v(id)[held].any()


def test_a_plant_without_a_scene_graph_moves_its_deformable_bodies():
    plant = load_model(SAMPLES / "deformable" / "sponge.sdf", contact=False).plant
    context = plant.CreateDefaultContext()
    for _ in Run(plant, context, 0.05).blocks():
        pass
    v = plant.deformable_model().GetBodyByName("cube").GetVelocities(context)
    assert v[2] == pytest.approx(-0.05 * G)


def test_errors_of_a_step_name_the_body_and_the_time(tmp_path):
    scene = Scene(tmp_path)
    id = scene.box([0, 0, 0.5], cells=1)
    scene.start().to(0.02)
    scene.model.SetVelocities(scene.context, id, 1e200 * np.ones_like(scene.v(id).T))
    with (
        pytest.raises(NumericalError, match="'DefaultModelInstance::soft'.*step 1 from t = 0.02 s"),
        np.errstate(all="ignore"),
    ):
        scene.to(0.1)


def test_a_contact_problem_without_solution_names_the_deformable_body(tmp_path):
    scene = Scene(tmp_path)
    id = scene.box([0, 0, 0.1], cells=1)
    scene.start().to(0.01)
    scene.context.state.contact.solver.settings[SETTING_MOST_ITERATIONS] = 0
    scene.model.SetVelocities(scene.context, id, np.tile([[1.0], [0.0], [-3.0]], (1, len(scene.q(id)))))
    with pytest.raises(NumericalError, match="in contact are DefaultModelInstance::soft and world"):
        scene.to(0.1)


def test_steps_whose_iterations_end_too_early_are_counted_and_told(tmp_path, monkeypatch):
    scene = Scene(tmp_path)
    id = scene.box([0, 0, 0.11], cells=2, beta=0.0)
    scene.start()
    scene.model.SetVelocities(scene.context, id, np.tile([[0.0], [0.0], [-3.0]], (1, len(scene.q(id)))))
    copied = scene.context.Clone()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.to(0.1)
    monkeypatch.setattr(elastic_solution, "MOST_ITERATIONS", 3)
    run = Run(scene.plant, copied, 0.1)
    for _ in run.blocks():
        pass
    found = run.contact.statistics()
    assert 2 <= found["unsettled_steps"] <= 9 and 1e-5 < found["largest_change"] < 0.1
    assert f"of {found['unsettled_steps']} steps of deformable bodies" in run.contact.complaint()
    scene.model.SetVelocities(scene.context, id, np.tile([[0.0], [0.0], [-3.0]], (1, len(scene.q(id)))))
    with pytest.warns(UserWarning, match="ended before their velocities stayed"):
        scene.to(0.15)


@pytest.mark.parametrize("keep_contacts", [False, True])
def test_steps_that_are_taken_again_for_samples_on_their_way_give_one_row(tmp_path, keep_contacts):
    scene = Scene(tmp_path, approximation="kSap")
    id = scene.box([0, 0, 0.11], cells=3, E=3e4, beta=0.0)
    scene.start()
    scene.model.SetVelocities(scene.context, id, np.tile([[0.0], [0.0], [-6.0]], (1, len(scene.q(id)))))
    again, counted = scene.context.Clone(), []
    run = Run(scene.plant, again, 0.2, keep=("contacts",) if keep_contacts else ())
    run.compile()
    solve = run.contact._solve
    run.contact._solve = lambda h: counted.append(1) or solve(h)
    times = np.concatenate([rows.time for rows in run.blocks()])
    assert len(counted) > 21
    np.testing.assert_allclose(times, np.arange(21) * 0.01, atol=1e-12)


def test_a_step_of_bodies_in_contact_that_is_far_from_a_solution_is_an_error(tmp_path, monkeypatch):
    scene = Scene(tmp_path)
    id = scene.box([0, 0, 0.1], cells=1)
    scene.start()
    scene.model.SetVelocities(scene.context, id, np.random.default_rng(0).normal(size=scene.v(id).T.shape) * 1e3)
    monkeypatch.setattr(elastic_solution, "MOST_ITERATIONS", 2)
    with pytest.raises(NumericalError, match=r"no solution that was found.*in iteration 2.*step 1 from t = 0 s"):
        scene.to(0.01)


def test_velocities_in_contact_that_are_not_finite_end_a_run_in_its_last_good_state(tmp_path, monkeypatch):
    scene = Scene(tmp_path)
    id = scene.box([0, 0, 0.1], cells=1)
    scene.start().to(0.02)
    before = scene.q(id).copy()
    monkeypatch.setattr(BlockCholesky, "finish", lambda self, x, last: np.full((self.count, 3), np.nan))
    with pytest.raises(NumericalError, match="not finite"):
        scene.to(0.03)
    np.testing.assert_array_equal(scene.q(id), before)


def test_each_step_is_linearized_once(tmp_path, monkeypatch):
    scene = Scene(tmp_path, ground="none")
    id = scene.box([0, 0, 0], cells=2)
    counted, factorize = [], BlockCholesky.factorize
    monkeypatch.setattr(BlockCholesky, "factorize", lambda *args: counted.append(1) or factorize(*args))
    scene.start()
    for t in (0.01, 0.02, 0.06):  # in one run that goes on
        scene.to(t)
    assert len(counted) == 6
    run = Run(scene.plant, scene.context, 0.1, sample_period=0.02)
    assert sum(len(samples.time) for samples in run.blocks()) == 3  # at 0.06, 0.08 and 0.1 s
    assert len(counted) == 10
    assert scene.v(id)[:, 2] == pytest.approx(-G * 0.1)


def test_the_statistics_of_steps_count_the_contacts_of_deformable_bodies(tmp_path):
    scene = Scene(tmp_path)
    scene.box([0, 0, 0.1], cells=2)
    context = scene.start().plant.CreateDefaultContext()
    run = Run(scene.plant, context, 0.2)
    for _ in run.blocks():
        pass
    found = run.contact.statistics()
    assert found["problems"] == 20 and found["most_contacts"] == 9  # the vertices of the bottom
    assert 7.0 < found["mean_contacts"] <= 9.0 and found["mean_iterations"] >= 1.0
    assert 0.0 <= found["largest_residual"] < 1e-3
