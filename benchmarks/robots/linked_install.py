"""Robots of ROS 2 packages, installed by links as `colcon build --symlink-install` does: which of their meshes load.

    python -m benchmarks.robots.linked_install CHECKOUT...

Every package.xml below a checkout is a package. Its files become links below PREFIX/PACKAGE/share/PACKAGE, and the
packages are named by AMENT_PREFIX_PATH, as the setup script of a workspace does. URDF and xacro files that hold a robot
are read from there (xacro runs code of the files: take repositories that you trust), and again with the installed files
as copies. A row has the files that are read, and the meshes that are found of those that they name. The end is 1 if a
link costs a mesh, else 0.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.package_map import IGNORE_MARKERS, PackageMap, stated_name
from mbcli.parsers.spec import Mesh

from mbcli.errors import MbcliError

ROBOTS = (".urdf", ".urdf.xacro", ".xacro")


def packages_below(checkout):
    """{name: folder} of the packages of a checkout."""
    found = {}
    for manifest in sorted(Path(checkout).rglob("package.xml")):
        name = stated_name(str(manifest.parent))
        if name and not any((manifest.parent / marker).exists() for marker in IGNORE_MARKERS):
            found.setdefault(name, manifest.parent)
    return found


def install(packages, prefix, put):
    """Puts the files of packages below a prefix; {package: its share folder there}."""
    shares = {}
    for name, source in packages.items():
        shares[name] = share = Path(prefix, name, "share", name)
        for path in sorted(source.rglob("*")):
            target = share / path.relative_to(source)
            if path.is_file() and ".git" not in path.parts:
                target.parent.mkdir(parents=True, exist_ok=True)
                put(path, target)
        index = Path(prefix, name, "share/ament_index/resource_index/packages", name)
        index.parent.mkdir(parents=True, exist_ok=True)
        index.touch()
    return shares


def _link(source, target):
    os.symlink(source.resolve(), target)


def meshes_of(path, environment, arguments):
    """(meshes that a file names, those that are found), None if it is no robot or cannot be read alone."""
    packages = PackageMap(environment=environment)
    packages.xacro_arguments = arguments
    try:
        models = load_models(str(path), packages=packages, diagnostics=Diagnostics())
    except MbcliError:
        return None
    shapes = [g.shape for m in models for link in m.links for g in (*link.visuals, *link.collisions)]
    meshes = [shape for shape in shapes if isinstance(shape, Mesh)]
    return (len(meshes), sum(mesh.path is not None for mesh in meshes)) if meshes else None


def counted(shares, arguments):
    """{file below its share folder: meshes_of()} of installed packages."""
    prefixes = os.pathsep.join(str(share.parents[1]) for share in shares.values())
    counts = {}
    for name, share in shares.items():
        for path in sorted(path for path in share.rglob("*") if path.name.endswith(ROBOTS)):
            found = meshes_of(path, {"AMENT_PREFIX_PATH": prefixes}, arguments)
            if found is not None:
                counts[name, path.relative_to(share).as_posix()] = found
    return counts


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robots.linked_install", description=__doc__)
    parser.add_argument("checkouts", nargs="+", metavar="CHECKOUT")
    parser.add_argument("--xacro", action="append", default=[], metavar="NAME=VALUE", help="of xacro files")
    options = parser.parse_args(arguments)
    values = dict(text.split("=", 1) for text in options.xacro)
    lost = 0
    print(f"{'checkout':36}{'packages':>10}{'robots':>8}{'meshes':>8}{'by links':>10}{'as copies':>11}")
    for checkout in options.checkouts:
        packages = packages_below(checkout)
        with tempfile.TemporaryDirectory() as links, tempfile.TemporaryDirectory() as copies:
            linked = counted(install(packages, links, _link), values)
            copied = counted(install(packages, copies, shutil.copyfile), values)
        sums = [sum(count[k] for count in counts.values()) for counts, k in ((copied, 0), (linked, 1), (copied, 1))]
        lost += sums[2] - sums[1]
        name = Path(checkout).resolve().name
        print(f"{name:36}{len(packages):10}{len(copied):8}{sums[0]:8}{sums[1]:10}{sums[2]:11}", flush=True)
    return 1 if lost > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
