"""Robot files of others: those of folders, and the packages that they may name."""

from pathlib import Path

from mbcli.parsers.package_map import PackageMap

from benchmarks.robots.files import robot_files


def files_of(names):
    """Paths: files as they are, of folders each URDF, SDFormat and MJCF file with another content."""
    folders = [name for name in names if Path(name).is_dir()]
    found = robot_files(folders, formats=("urdf", "sdf", "mjcf"))[0] if folders else []
    return [name for name in names if name not in folders] + [str(file.path) for file in found]


def packages_of(name):
    """Of the folders around a file; what is missing is left out."""
    packages = PackageMap(allow_outside=True, missing_meshes="ignore")
    packages.add_path(str(Path(name).resolve().parent.parent))
    return packages
