"""USD files are untrusted: references stay in the package, damage is a finding, and a missing library one line."""

import os
import random
import subprocess
import sys

import pytest
from damaged_texts import damaged_bytes, damaged_text
from mbcli.parsers.package_map import PackageMap
from usd_texts import ARM, body, read_stage, stage_text

pytest.importorskip("pxr", reason="usd-core is not installed")

MUTANTS = int(os.environ.get("MBCLI_FUZZ_USD", 8))
SECRET = stage_text('def Xform "robot" { def Sphere "swordfish" { double radius = 1 } }')


@pytest.mark.parametrize("way", ["references", "payload", "subLayers", "variant", "nested"])
def test_a_reference_out_of_the_package_is_refused(tmp_path, way):
    (tmp_path / "secret.usda").write_text(SECRET)
    folder = tmp_path / "robot"
    folder.mkdir()
    outside = str(tmp_path / "secret.usda") if way == "payload" else "../secret.usda"
    arc = f"(prepend {'payload' if way == 'payload' else 'references'} = @{outside}@)"
    inside = f'def "skin" {arc} {{}}'
    text = stage_text('def Xform "robot" {' + body("a", (0, 0, 0), inside="" if way == "subLayers" else inside) + "}")
    if way == "subLayers":
        text = text.replace('upAxis = "Z"', f'upAxis = "Z"\nsubLayers = [@{outside}@]')
    if way == "variant":
        text = stage_text(
            'def Xform "robot" (prepend variantSets = "v"\nvariants = { string v = "off" }) {'
            + body("a", (0, 0, 0))
            + f'variantSet "v" = {{ "on" {{ {inside} }} "off" {{}} }} }}'
        )
    if way == "nested":
        (folder / "part.usda").write_text(text)
        text = stage_text('def Xform "robot" (prepend references = @./part.usda@) {}')
    path = folder / "robot.usda"
    path.write_text(text)
    model, diagnostics = read_stage(str(path))
    assert model is None
    (error,) = diagnostics.errors
    assert error.code == "URI_OUTSIDE"
    assert "swordfish" not in str(error)
    packages = PackageMap(allow_outside=True)
    assert read_stage(str(path), packages=packages)[0] is not None


def test_layers_may_name_others_below_the_folder_of_the_stage(tmp_path):
    """As Isaac's robots do: robot.usda has configuration/physics.usda, which has ../parts/arm.usda."""
    for name in ("configuration", "parts"):
        (tmp_path / "robot" / name).mkdir(parents=True)
    (tmp_path / "robot" / "parts" / "arm.usda").write_text(ARM)
    for name, uri in (("configuration/physics", "../parts/arm"), ("robot", "./configuration/physics")):
        text = stage_text(f'def Xform "robot" (prepend references = @{uri}.usda@) {{}}')
        (tmp_path / "robot" / f"{name}.usda").write_text(text)
    model, diagnostics = read_stage(str(tmp_path / "robot" / "robot.usda"))
    assert not diagnostics.errors and model is not None
    model, diagnostics = read_stage(str(tmp_path / "robot" / "configuration" / "physics.usda"))
    assert [error.code for error in diagnostics.errors] == ["URI_OUTSIDE"]


def test_references_to_the_network_and_to_nothing_are_refused(tmp_path):
    for uri in ("https://127.0.0.1:9/a.usd", "omniverse://x/a.usd", "./missing.usda"):
        path = tmp_path / "robot.usda"
        path.write_text(stage_text(f'def Xform "robot" (prepend references = @{uri}@) {{}}'))
        model, diagnostics = read_stage(str(path))
        assert model is None
        assert [error.code for error in diagnostics.errors] == ["URI_LOOKUP"], uri


def test_a_usdz_package_leads_nowhere_else(tmp_path):
    from zipfile import ZIP_STORED, ZipFile

    (tmp_path / "secret.usda").write_text(SECRET)
    for uri in (str(tmp_path / "secret.usda"), "../secret.usda"):
        with ZipFile(tmp_path / "robot.usdz", "w", ZIP_STORED) as package:
            package.writestr("robot.usda", stage_text(f'def Xform "robot" (prepend references = @{uri}@) {{}}'))
        model, diagnostics = read_stage(str(tmp_path / "robot.usdz"))
        assert model is None
        assert diagnostics.errors[0].code in ("URI_OUTSIDE", "USD_ERROR"), uri


def test_damaged_stages_give_findings_and_no_traceback(tmp_path):
    """Tokens of text exchanged, bytes of the binary form changed. MBCLI_FUZZ_USD: how many."""
    from pxr import Sdf

    (tmp_path / "arm.usda").write_text(ARM)
    Sdf.Layer.FindOrOpen(str(tmp_path / "arm.usda")).Export(str(tmp_path / "arm.usdc"))
    binary = (tmp_path / "arm.usdc").read_bytes()
    draw = random.Random(20261126)
    read_count = 0
    for number in range(MUTANTS):
        content = damaged_bytes(binary, draw) if number % 2 else damaged_text(ARM, draw)
        path = tmp_path / f"mutant_{number}.usd"
        path.write_bytes(content)
        model, diagnostics = read_stage(str(path), thorough=True)
        assert model is not None or diagnostics.errors, number
        assert all(len(str(finding)) < 10_000 for finding in diagnostics.findings)
        read_count += model is not None
    assert read_count or MUTANTS < 8


@pytest.mark.parametrize(
    "colour",
    ["matrix4d[] primvars:displayColor = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]",
     "float2[] primvars:displayColor = [(1, 2)]", "float primvars:displayColor = 1",
     "string primvars:displayColor = \"red\"", "float4[] primvars:displayColor = [(1,1,1,1)]",
     "float3[] primvars:displayOpacity = [(1, 1, 1)]", "string[] primvars:displayOpacity = [\"a\"]"],
)  # fmt: skip
def test_a_colour_of_another_type_is_left_out(tmp_path, colour):
    old = "color3f[] primvars:displayColor = [(0.1, 0.2, 0.3)]"
    assert old in ARM
    (tmp_path / "arm.usda").write_text(
        ARM.replace(old, colour if "Color" in colour else f"{old}\n{colour}").replace(
            'prepend apiSchemas = ["PhysicsCollisionAPI"]', ""
        )
    )
    model, diagnostics = read_stage(str(tmp_path / "arm.usda"))
    assert model is not None and not diagnostics.errors
    assert any("colour is not three numbers" in str(finding) for finding in diagnostics.warnings)


def test_a_limit_of_memory_that_is_lower_stays(tmp_path):
    """`ulimit -v` of the user's shell: the process of the library does not ask for more."""
    resource = pytest.importorskip("resource")
    (tmp_path / "arm.usda").write_text(ARM)
    most = 8 * 2**30
    done = subprocess.run(
        [sys.executable, "-m", "mbcli", "check", str(tmp_path / "arm.usda")],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        capture_output=True,
        text=True,
    )
    assert "maximum limit" not in done.stdout + done.stderr
    assert done.returncode in (0, 1), done.stderr


def test_without_usd_core_one_line_names_the_extra(tmp_path):
    path = tmp_path / "arm.usda"
    path.write_text(ARM)
    code = "import sys; sys.modules['pxr'] = None; sys.argv = ['mbcli', 'check', sys.argv[1]]\n"
    code += "from mbcli.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert done.returncode == 4
    assert "pip install 'mbcli[usd]'" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
