"""`mbcli doctor`: whether the surroundings of mbcli are in order."""

from __future__ import annotations

import os
import sys
from importlib import metadata, util
from typing import TYPE_CHECKING

import click

from mbcli.common.extra_packages import install_line
from mbcli.common.json_text import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

# extra -> (module that it brings, what it is for)
EXTRAS = {
    "symbolic": ("sympy", "mbcli symbolic"),
    "xacro": ("xacro", "--xacro"),
    "usd": ("pxr", "models in USD"),
    "decompose": ("coacd", "--decompose"),
    "casadi": ("casadi", "codegen --to casadi"),
    "jax": ("jax", "codegen --to jax"),
    "compiler": ("ziglang", "codegen --to c, arduino and fmi without another compiler"),
    "plot": ("matplotlib", "mbcli log plot"),
    "s3": ("s3fs", "mbcli sweep -o s3://BUCKET/TABLE"),
    "dask": ("distributed", "mbcli sweep --dask"),
    "ray": ("ray", "mbcli sweep --ray"),
    "gymnasium": ("gymnasium", "mbcli.environments"),
    "sb3": ("stable_baselines3", "mbcli.environments.stable_baselines"),
    "onnx": ("onnxruntime", "simulate --controller POLICY.onnx, codegen --to onnx"),
    "torch": ("torch", "simulate --controller POLICY.pt"),
    "parquet": ("pyarrow", "tables as Parquet"),
    "mcap": ("mcap", "mbcli log export --to mcap, states as MCAP"),
    "ros": ("rosbags", "bags of ROS 2: states, mbcli log export --to ros"),
    "rerun": ("rerun", "mbcli log export --to rrd"),
}
PEERS = {"drake": "pydrake", "pin": "pinocchio", "mujoco": "mujoco", "pybullet": "pybullet"}
PATH_VARIABLES = ("MBCLI_PACKAGE_PATH", "ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GZ_SIM_RESOURCE_PATH")
SHORT_OF_SPACE = 200e6  # [bytes]


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> int:
    """Show versions, the folder of compiled kernels, extras, other engines, and where packages are searched.

    Exit code 1 if something is a problem.
    """
    checks = [{"name": name, "status": status, "text": text} for name, status, text in _checks()]
    if as_json:
        click.echo(to_json({"schema": "mbcli/doctor", "schema_version": 1, "checks": checks}))
    else:
        width = max(len(check["name"]) for check in checks)
        colours = {"ok": "green", "note": None, "problem": "red"}
        for check in checks:
            status = click.style(f"{check['status']:<7}", fg=colours[check["status"]])
            click.echo(f"{check['name']:<{width}}  {status}  {check['text']}", color=ctx.color)
    return 1 if any(check["status"] == "problem" for check in checks) else 0


def _checks() -> Iterator[tuple[str, str, str]]:
    from mbcli.log.provenance import collect_provenance

    versions = collect_provenance()
    yield "mbcli", "ok", f"{versions['mbcli_version']}, {versions['python']}, {sys.executable}"
    yield "packages", "ok", ", ".join(f"{name} {version}" for name, version in versions["packages"].items())
    blas = versions["blas"]
    yield "machine", "ok", f"{versions['cpu']}, {blas['cpu_count']} processors; {blas['name']} {blas['version']}"
    yield "cache", *_cache()
    yield "kernels", *_kernels()
    for extra, (module, use) in EXTRAS.items():
        there = util.find_spec(module) is not None
        yield f"extra {extra}", "ok" if there else "note", use if there else f"{use}: {install_line(extra)}"
    for package, module in PEERS.items():
        there = util.find_spec(module) is not None
        yield f"engine {package}", "ok" if there else "note", metadata.version(package) if there else "not installed"
    for name in PATH_VARIABLES:
        if os.environ.get(name):
            missing = [folder for folder in os.environ[name].split(os.pathsep) if folder and not os.path.isdir(folder)]
            text = f"no such folder: {', '.join(missing)}" if missing else os.environ[name]
            yield name, "problem" if missing else "ok", text


def _cache() -> tuple[str, str]:
    """Of compiled kernels and hulls of meshes."""
    import shutil

    from mbcli.common.kept_files import CURE, folder_fault
    from mbcli.common.user_cache import user_cache

    folder = user_cache()
    above = folder
    while not above.exists():
        above = above.parent
    if not os.access(above, os.W_OK):
        anew = "what is not precompiled" if _is_precompiled() else "everything"
        cure = "MBCLI_CACHE_DIR names another folder"
        return "problem", f"{folder} cannot be written: every run compiles {anew} anew; {cure}"
    kept = [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
    faults = [fault for fault in map(folder_fault, kept) if fault is not None]
    if faults:
        return "problem", f"{faults[0]}: it is not used. {CURE}"
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.exists() else 0
    free = shutil.disk_usage(above).free
    text = f"{folder}, {size / 1e6:.0f} MB, {free / 1e9:.1f} GB free"
    return "problem" if free < SHORT_OF_SPACE else "ok", text


def _kernels() -> tuple[str, str]:
    if os.environ.get("MBCLI_JIT") == "0":
        return "note", "interpreted, since MBCLI_JIT=0"
    if util.find_spec("numba") is None:
        return "problem", "numba is missing: everything is interpreted and slow"
    if _is_precompiled():
        return "ok", "precompiled in this installation; what is not is compiled on first use and kept in the cache"
    return "ok", "compiled on first use, kept in the cache"


def _is_precompiled() -> bool:
    from mbcli.engine.runtime.precompiled import precompiled_library

    return util.find_spec("numba") is not None and precompiled_library() is not None
