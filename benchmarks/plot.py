"""A curve of measured times over a count as SVG, both axes logarithmic: no library is needed, any browser shows it."""

import math

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 78, 24, 34, 52  # margins
PAD = 0.15  # decades between the frame and the outer ones of an axis
FONT = 'font-family="sans-serif" font-size="13" fill="#333"'
GRID, FRAME = 'stroke="#ddd"', 'stroke="#666" fill="none"'
CURVE, POINT = 'stroke="#1f6fb4" stroke-width="2" fill="none"', 'fill="#1f6fb4"'
SLOPE = 'stroke="#999" stroke-dasharray="5 4"'


class LogAxis:
    """Positions of numbers between the decades that enclose them all."""

    def __init__(self, values, start, end):
        self.lower, self.upper = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.upper = max(self.upper, self.lower + 1)
        self._start, self._end = start, end

    def at(self, value):
        part = (math.log10(value) - self.lower + PAD) / (self.upper - self.lower + 2.0 * PAD)
        return self._start + part * (self._end - self._start)

    def decades(self):
        return [10.0**k for k in range(self.lower, self.upper + 1)]


def growth_svg(counts, seconds, title, count_name, formatted):
    """SVG text of seconds over counts, with a line through the last point that grows as the count.

    formatted: seconds -> text with a unit.
    """
    x, y = LogAxis(counts, LEFT, WIDTH - RIGHT), LogAxis(seconds, HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for value in x.decades():
        parts.append(_line(GRID, x.at(value), TOP, x.at(value), bottom))
        parts.append(_text(x.at(value), bottom + 18, f"{value:g}", "middle"))
    for value in y.decades():
        parts.append(_line(GRID, LEFT, y.at(value), right, y.at(value)))
        parts.append(_text(LEFT - 8, y.at(value) + 4, formatted(value * (1.0 + 1e-12)), "end"))
    parts.append(f'<rect {FRAME} x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}"/>')
    parts += _slope(x, y, counts[-1], seconds[-1])
    points = [(x.at(n), y.at(t)) for n, t in zip(counts, seconds, strict=True)]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    parts.append(f'<polyline {CURVE} points="{path}"/>')
    for (a, b), t in zip(points, seconds, strict=True):
        parts.append(f'<circle {POINT} cx="{a:.1f}" cy="{b:.1f}" r="4"/>')
        before = a > right - 90
        parts.append(
            _text(a - 8 if before else a + 8, b - 6 if before else b + 16, formatted(t), "end" if before else "")
        )
    parts.append(_text(WIDTH / 2, 21, title, "middle"))
    parts.append(_text((LEFT + right) / 2, HEIGHT - 12, count_name, "middle"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _slope(x, y, count, seconds):
    """The line of linear growth through a point, within the frame."""
    lowest = max(10.0**x.lower, count * 10.0**y.lower / seconds)
    ends = (x.at(lowest), y.at(seconds * lowest / count), x.at(count), y.at(seconds))
    middle = math.sqrt(lowest * count)
    label = _text(x.at(middle) - 12, y.at(seconds * middle / count) - 10, "linear", "end")
    return [_line(SLOPE, *ends), label]


def _line(style, x0, y0, x1, y1):
    return f'<line {style} x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"/>'


def _text(x, y, text, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" {FONT} text-anchor="{anchor}">{text}</text>'
