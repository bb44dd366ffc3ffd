"""`mbcli explain`: what a finding means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.common.json_text import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.parsers.checks.codes import Code


@click.command("explain")
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def explain(code: str | None, as_json: bool) -> None:
    """Explain the code of a finding, with an example; without CODE list all codes.

    \b
    mbcli explain LINK_INERTIA_INVALID
    mbcli explain | grep -i mesh
    """
    from mbcli.common.suggestions import closest
    from mbcli.parsers.checks.codes import CODES

    if code is not None:
        code = code.strip("[]").upper().replace("-", "_")
        if code not in CODES:
            near: list[Any] = [name for name in CODES if code in name] or [closest(code, CODES)]
            hint = f"; did you mean {', '.join(near[:6])}?" if near[0] else "; without a code all are listed"
            raise click.UsageError(f"there is no code '{code}'{hint}")
    chosen = CODES if code is None else {code: CODES[code]}
    if as_json:
        codes = [{"code": name, "text": entry.meaning, "example": entry.example} for name, entry in chosen.items()]
        click.echo(to_json({"schema": "mbcli/explain", "schema_version": 1, "codes": codes}))
    elif code is None:
        width = max(map(len, CODES))
        click.echo("\n".join(f"{name:<{width}}  {entry.meaning.partition('. ')[0]}" for name, entry in CODES.items()))
    else:
        click.echo("\n".join(_in_full(code, CODES[code])))


def _in_full(code: str, entry: Code) -> Iterator[str]:
    import textwrap

    yield from textwrap.wrap(f"{code}: {entry.meaning}", 100)
    if entry.example is None:
        return
    yield ""
    yield f"Example ({entry.format}):"
    yield ""
    yield f"    {entry.example}"
    lines = list(_findings(code, entry))
    if lines:
        yield ""
        yield from (f"    {line}" for line in lines)


def _findings(code: str, entry: Code) -> Iterator[str]:
    """What `mbcli check` says of the example."""
    from mbcli.checks.file_check import check_file

    checked = check_file(
        entry.document().encode(), name=f"example.{entry.input_format}", input_format=entry.input_format
    )
    for finding in checked.findings:
        if finding.code == code:
            yield str(finding)
