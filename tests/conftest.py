"""What tests share: where they find each other and compiled kernels, and the folder of public robot models."""

import functools
import os
import signal
import sys

import pytest
from costly_files import turn
from peer_modules import missing_peers, peers_of
from quick_set import QuickSet
from repository import MODELS, ROOT, files_of_tests

# a test file may use what another one defines, in whichever rooms they stand
sys.path += sorted({str(path.parent) for path in files_of_tests()})

# Set before any test imports the engine, and inherited by commands that tests start: one compile for all of them, kept
# from run to run, outside the user's own cache.
os.environ.setdefault("MBCLI_CACHE_DIR", str(ROOT / ".pytest_cache" / "kernels"))


# a shell has what it puts into the background ignore interrupts, which some tests send to themselves
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--first-cases", action="store_true", help="of each test its first case alone")
    parser.addoption(
        "--short", action="store_true", help="the same, without tests that take long, as reach.py measures"
    )


def pytest_configure(config):
    """`-m quick` interprets kernels, in the commands that tests start too: a changed kernel would be compiled first."""
    if config.option.markexpr == "quick":
        os.environ.setdefault("MBCLI_JIT", "0")
    config.option.loadscopereorder = False  # two processes take files as they are sorted, not by their numbers of tests


def pytest_ignore_collect(collection_path, config):
    """`-m quick`, `peers` and `usd` do not import files without such tests: all files take half a minute."""
    if not collection_path.name.startswith("test_"):
        return None
    wanted = config.option.markexpr
    if wanted == "quick":
        return not quick_set().may_have(collection_path) or None
    if wanted in ("peers", "usd", "peers or usd"):
        words = wanted.split(" or ")
        return not any(word in collection_path.read_text().lower() for word in words) or None
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Marks the tests of USD, and the quick set, but for what starts other engines, which takes a second.

    A process that shares the files with another one begins with those that take longest, the quick set with the files
    that are near what has changed.
    """
    if config.option.first_cases or config.option.short:
        items[:] = {(item.path, item.function.__qualname__): item for item in reversed(items)}.values()
        items.reverse()
    for item in items:
        if "usd" in item.nodeid.lower() or "pxr" in item.function.__code__.co_consts:
            item.add_marker(pytest.mark.usd)
    if config.option.short:  # other engines and USD have no record
        elsewhere = ("peers", "usd")
        items[:] = [i for i in items if any(map(i.get_closest_marker, elsewhere)) or quick_set().measured(i)]
    if config.option.markexpr == "quick":
        for item in quick_set().of(items):
            if item.get_closest_marker("peers") is None:
                item.add_marker(pytest.mark.quick)
        items.sort(key=lambda item: item.path.name not in quick_set().near_files)
    elif hasattr(config, "workerinput"):
        items.sort(key=turn)


@functools.cache
def quick_set():
    """The quick set of the tree as it is."""
    return QuickSet()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skips a test before its fixtures run where an engine is missing that it is marked with: `peers("mujoco")`."""
    missing = missing_peers(peers_of(item))
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed")


@pytest.fixture(autouse=True)
def no_process_left():
    """Ends the commands that a test has started and, as it failed, not waited for."""
    yield
    if "command_line" in sys.modules:
        sys.modules["command_line"].end_started()


@pytest.fixture(autouse=True)
def no_default_left():
    """Fails a test that leaves another library's defaults to the tests after it, as an import of mbcli.pydrake does."""
    yield
    finders = [finder for finder in sys.meta_path if type(finder).__module__.startswith("mbcli.")]
    settings = sys.modules.get("mbcli.multibody.core.plant_settings")
    left = dict(settings.OTHER_DEFAULTS) if settings else {}
    if left or finders:
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in finders]
        if settings:
            settings.OTHER_DEFAULTS.clear()
        pytest.fail(f"left behind for other tests: defaults {left}, {finders}")


@pytest.fixture(scope="session")
def models_dir():
    """The folder of public models: MBCLI_MODELS, or shared/models beside the repository; skips where there is none."""
    if not MODELS.is_dir():
        pytest.skip("no folder of public models: set MBCLI_MODELS")
    return MODELS


@pytest.fixture
def ready_kernels(monkeypatch):
    """Kernels are those of this checkout's library or, where it has none, interpreted: nothing is compiled."""
    from mbcli.engine.runtime.precompiled import precompiled_library

    if precompiled_library() is None:
        monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.fixture(scope="module")
def compiled_here():
    """Kernels are those that numba compiles here, also in a checkout that has precompiled ones, and in its commands."""
    from mbcli.engine import load_kernels
    from mbcli.engine.runtime import precompiled

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MBCLI_PRECOMPILED", "0")
        patch.setattr(precompiled, "precompiled_library", lambda: None)
        load_kernels.cache_clear()
        yield
    load_kernels.cache_clear()


@pytest.fixture(autouse=True)
def watched_energy(request, monkeypatch):
    """Asserts the balances of every run that a test lets end, see energy_watch.py; `rough` leaves a test out.

    Where kernels are interpreted: compiled, the balance would take as long again to compile for each kind of kernels.
    MBCLI_WATCH_ENERGY=1 watches there too.
    """
    wanted = os.environ.get("MBCLI_JIT") == "0" or os.environ.get("MBCLI_WATCH_ENERGY") == "1"
    if not wanted or request.node.get_closest_marker("rough"):
        return
    from energy_watch import EnergyWatch

    from mbcli.multibody.stepping.run import Run

    blocks = Run.blocks

    def watched(self, *arguments, **options):
        watch = EnergyWatch(self)
        yield from blocks(self, *arguments, **options)
        watch.check()

    monkeypatch.setattr(Run, "keeps_balance", True)
    monkeypatch.setattr(Run, "blocks", watched)
