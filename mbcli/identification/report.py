"""A page on an identification: measured and predicted efforts, errors, parameters. One file, without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.identification.estimation import Equations, predicted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.identification.identify import Identified
    from mbcli.identification.trajectory import TrajectoryFit
    from mbcli.math.array_types import FloatArray

WIDTH, HEIGHT, MARGIN = 900, 150, 50
MOST_POINTS = 900  # of a line
FEW_POINTS = 300  # of those of a picture alone
STYLE = """body{font:14px/1.45 system-ui,sans-serif;max-width:960px;margin:2em auto;padding:0 1em;color:#222}
h1,li{overflow-wrap:anywhere}.wide{overflow-x:auto}
table{border-collapse:collapse;margin:1em 0}td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}
td{white-space:nowrap}td:first-child,th:first-child{text-align:left}
svg{width:100%;min-width:640px;height:auto}polyline{fill:none;stroke-width:1.2}.m{stroke:#b4bcc6}polyline.m{stroke-width:4}
.p{stroke:#c22}.r{stroke:#27c}.grid{stroke:#e4e7eb}.zero{stroke:#9aa5b1}
text{font:11px system-ui,sans-serif;fill:#555}.end{text-anchor:end}
.mid{text-anchor:middle}.error{color:#b00}
.key{display:inline-block;width:30px;vertical-align:middle;border-top:2px solid}.key.m{border-width:4px;color:#b4bcc6}
.key.p{color:#c22}.key.r{color:#27c}"""
LEGEND = " &nbsp; ".join(f"<span class='key {kind}'></span> {{}}" for kind in "mpr")


def report_page(result: Identified, document: dict[str, Any], title: str) -> str:
    """HTML of the result. document: identified_document()."""
    parts = [
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title>",
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>",
        _findings(document["findings"]),
        _errors(document),
    ]
    runs = result.validation or result.data
    what = "not used for identification" if result.validation else "used for identification"
    parts.append(f"<h2>Efforts of data {what}</h2>{_legend('measured', 'predicted')}")
    for k, name in enumerate(result.names):
        parts.append(
            f"<h3>{escape(name)} [{_unit_of_effort(name)}]</h3><div class='wide'>{_plot(runs, k, result.x)}</div>"
        )
    parts += [_friction(document), _parameters(document), _base(document), "</body></html>\n"]
    return "\n".join(parts)


def efforts_picture(result: Identified, _: dict[str, Any], title: str) -> str:
    """SVG: the plots of report_page() alone."""
    runs, height = result.validation or result.data, HEIGHT + 20
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height * len(result.names) + 20}'>",
        f"<title>{escape(title)}</title><style>{STYLE}</style><rect width='100%' height='100%' fill='#fff'/>",
        "<text x='2' y='14'>grey: measured, red: predicted, blue: their difference</text>",
    ]
    for k, name in enumerate(result.names):
        top = 20 + k * height
        parts.append(f"<text x='{MARGIN}' y='{top + 14}'>{escape(name)} [{_unit_of_effort(name)}]</text>")
        plot = _plot(runs, k, result.x, FEW_POINTS)
        parts.append(plot.replace("<svg ", f"<svg y='{top + 15}' width='{WIDTH}' height='{HEIGHT}' ", 1))
    return "\n".join([*parts, "</svg>\n"])


def fit_page(result: TrajectoryFit, document: dict[str, Any], title: str) -> str:
    """HTML of a fit by simulation. document: fitted_document()."""
    words = {
        "before": "data, parameters of the file",
        "after": "data, identified parameters",
        "validation_before": "unseen data, parameters of the file",
        "validation": "unseen data, identified parameters",
    }
    rows = [[text, _percent(document["errors"][key])] for key, text in words.items() if document["errors"][key]]
    parts = [
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title>",
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>",
        _findings(document["findings"]),
        f"<h2>Errors</h2>{_table(['error of simulated positions, over the ways', ''], rows)}",
        f"<h2>Positions</h2>{_legend('measured', 'simulated, in stretches')}",
    ]
    for k, name in enumerate(result.names):
        for source, time, measured, simulated in result.plots:
            picture = _picture(time - time[0], measured[:, k], simulated[:, k])
            unit = "rad" if name.endswith("_q") else "m"
            parts.append(f"<h3>{escape(name)} [{unit}], {escape(source)}</h3><div class='wide'>{picture}</div>")
    return "\n".join([*parts, _parameters(document), "</body></html>\n"])


def _findings(findings: Sequence[dict[str, Any]]) -> str:
    if not findings:
        return "<p>Nothing in the data looks wrong.</p>"
    rows = "".join(
        f"<li class='{escape(f['severity'])}'>{escape(f['severity'])}: {escape(f['file'])}"
        f"{':' + str(f['line']) if f['line'] else ''}: {escape(f['column'] or '')} {escape(f['message'])}</li>"
        for f in findings
    )
    return f"<h2>Findings</h2><ul>{rows}</ul>"


def _errors(document: dict[str, Any]) -> str:
    words = {
        "before": "data, parameters of the file",
        "after": "data, identified parameters",
        "validation_before": "unseen data, parameters of the file",
        "validation": "unseen data, identified parameters",
        "validation_of_file": "unseen data, what the written file says alone",
    }
    rows = [[text, _percent(document["errors"][key])] for key, text in words.items() if document["errors"].get(key)]
    text = _table(["error of the efforts, as measured", ""], rows)
    head, of_joints = joint_errors(document["errors_of_joints"])
    cells = [[name, *map(_percent, values)] for name, values in of_joints]
    return f"<h2>Errors</h2>{text}{_table(head, cells)}"


def joint_errors(errors: dict[str, Any]) -> tuple[list[str], list[tuple[str, list[float]]]]:
    """Head and rows (joint, errors) of a table, with the columns that `errors_of_joints` of a document has."""
    words = {
        "data_before": "data, file",
        "data": "data, identified",
        "validation_before": "unseen, file",
        "validation": "unseen, identified",
    }
    columns = {words[key]: values for key, values in errors.items() if values}
    names: dict[str, float] = next(iter(columns.values()), {})
    return ["joint", *columns], [(name, [values[name] for values in columns.values()]) for name in names]


def friction_table(laws: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table of `friction` of a document: errors of each joint in data that were left out."""
    names = list(dict.fromkeys(name for law in laws for name in law["errors"]))
    head = ["joint", "law of friction", "cannot be told from", *(f"left out, {name}" for name in names)]
    rows = [
        [
            law["joint"],
            law["law"],
            ", ".join(law["alike"]),
            *(_percent(law["errors"].get(name)) for name in names),
        ]
        for law in laws
    ]
    return head, rows


def _friction(document: dict[str, Any]) -> str:
    if not document["friction"]:
        return ""
    return f"<h2>Friction, by data that were left out</h2>{_table(*friction_table(document['friction']))}"


def _parameters(document: dict[str, Any]) -> str:
    rows = [
        [
            p["name"],
            f"{p['old']:.5g}",
            f"{p['new']:.5g}",
            "" if p["standard_error"] is None else f"{p['standard_error']:.2g}",
            p["unit"],
        ]
        for p in document["parameters"]
    ]
    return f"<h2>Parameters</h2>{_table(['', 'file', 'identified', 'standard error', 'unit'], rows)}"


def _base(document: dict[str, Any]) -> str:
    rows = [
        [
            b["name"],
            f"{b['old']:.5g}",
            *("" if b[key] is None else f"{b[key]:.4g}" for key in ("value", "standard_error")),
            f"{b['new']:.5g}",
        ]
        for b in document["base_parameters"]
    ]
    head = ["combination", "file", "least squares", "standard error", "possible body"]
    known = f"{document['rank']} of {document['largest_rank']} combinations"
    return f"<h2>What the data determine: {known}</h2>{_table(head, rows)}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class='wide'><table><tr>{top}</tr>{body}</table></div>"


def _legend(*kinds: str) -> str:
    return f"<p>{LEGEND.format(*kinds, 'their difference')}</p>"


def _unit_of_effort(name: str) -> str:
    """By the ending of a velocity's name (docs/reference/conventions.md)."""
    return "N m" if name.rpartition("_")[2] in ("w", "wx", "wy", "wz") else "N"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f} %"


def _plot(runs: Sequence[Equations], k: int, x: FloatArray, most: int = MOST_POINTS) -> str:
    """Measured and predicted effort, and their difference, of all runs one after another."""
    times, measured, told = [], [], []
    start = 0.0
    for run in runs:
        times.append(start + run.time - run.time[0])
        start = float(times[-1][-1]) + 1.0 / run.rate
        measured.append(run.raw_tau[:, k])
        told.append(predicted(run, x)[:, k])
    t, m, p = (np.concatenate(part) for part in (times, measured, told))
    return _picture(t, m, p, most)


def _picture(t: FloatArray, m: FloatArray, p: FloatArray, most: int = MOST_POINTS) -> str:
    """Lines of what was measured, of what is predicted, and of their difference."""
    step = max(1, len(t) // most)
    t, m, p = t[::step], m[::step], p[::step]
    low, high = min(m.min(), p.min(), (m - p).min()), max(m.max(), p.max(), (m - p).max())
    high = high if high > low else low + 1.0
    end = max(float(t[-1] - t[0]), 1e-12)
    u = MARGIN + (WIDTH - MARGIN - 5) * (t - t[0]) / end

    def height(values: Any) -> Any:
        return 5 + (HEIGHT - 25) * (high - values) / (high - low)

    def line(values: FloatArray, kind: str) -> str:
        v = height(values)
        return f"<polyline class='{kind}' points='{' '.join(f'{a:.1f},{b:.1f}' for a, b in zip(u, v, strict=True))}'/>"

    parts = [f"<svg viewBox='0 0 {WIDTH} {HEIGHT}'>"]
    for value in _round_values(low, high, 4):
        v, kind = height(value), "grid" if value else "zero"
        parts.append(f"<line class='{kind}' x1='{MARGIN}' x2='{WIDTH - 5}' y1='{v:.1f}' y2='{v:.1f}'/>")
        parts.append(f"<text class='end' x='{MARGIN - 6}' y='{v + 4:.1f}'>{value:.5g}</text>")
    for value in _round_values(0.0, end, 10):
        at = MARGIN + (WIDTH - MARGIN - 5) * value / end
        parts.append(f"<line class='grid' x1='{at:.1f}' x2='{at:.1f}' y1='5' y2='{HEIGHT - 20}'/>")
        kind = "end" if at > WIDTH - 30 else "mid"
        parts.append(f"<text class='{kind}' x='{at:.1f}' y='{HEIGHT - 5}'>{value:.5g} s</text>")
    return "".join([*parts, line(m, "m"), line(m - p, "r"), line(p, "p"), "</svg>"])


def _round_values(low: float, high: float, most: int) -> FloatArray:
    """Multiples of 1, 2 or 5 times a power of ten between two numbers, at most so many and one."""
    rough = (high - low) / most
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(part for part in (1.0, 2.0, 5.0, 10.0) if part * power >= 0.999999 * rough)
    return step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1.0) + 0.0
