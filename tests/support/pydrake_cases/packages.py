"""Packages that lie elsewhere, maps of packages, files that a text of directives names."""

import hashlib
import os
import tempfile

from pydrake.multibody.parsing import PackageMap, Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces_

plant = MultibodyPlant(0.0)
parser = Parser(plant)
remote = PackageMap.RemoteParams(urls=["https://example.org/x.tar.gz"], sha256="0" * 64, strip_prefix="x/")
parser.package_map().AddRemote(package_name="somewhere", params=remote)
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
prefix = hashlib.sha256(b"x/").hexdigest()
cached = os.path.join(os.environ["XDG_CACHE_HOME"], "drake", "package_map", "0" * 64 + "-" + prefix)
os.makedirs(cached)
print(parser.package_map().GetPath("somewhere") == cached)
print(parser.package_map().Contains("somewhere"), parser.package_map().Contains("nowhere"))
other = PackageMap()
folder, empty = tempfile.mkdtemp(), tempfile.mkdtemp()
other.Add("there", folder)
parser.package_map().AddMap(other)
print(parser.package_map().GetPath("there") == folder, "somewhere" in parser.package_map().GetPackageNames())
try:
    PackageMap().AddRemote("a", PackageMap.RemoteParams(urls=["https://example.org/x.tar.gz"], sha256="zz"))
except RuntimeError:
    print("no sha256")
whole = parser.package_map()
for name in whole.GetPackageNames():
    whole.Remove(name)
print(whole.size(), whole.Contains("drake"), whole.Contains("somewhere"))
inertia = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
with open(os.path.join(folder, "a.urdf"), "w") as file:
    file.write(f'<robot name="a"><link name="b">{inertia}</link></robot>')
text = f"directives:\n- add_model:\n    name: a\n    file: file://{folder}/a.urdf\n"
os.chdir(empty)
with open(os.path.join(empty, "d.dmd.yaml"), "w") as file:
    file.write(text)
parser.AddModelsFromString(text, "dmd.yaml")
print(plant.num_bodies())
plant.Finalize()
print(type(MultibodyForces_(plant)).__name__)
plant = MultibodyPlant(0.0)
Parser(plant).AddModels(os.path.join(empty, "d.dmd.yaml"))
print(plant.num_bodies())
