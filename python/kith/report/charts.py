"""Pictures as HTML and SVG. Text is HTML, and shapes stretch: so pages are readable on any width. Everything that comes
from a recording is escaped here."""

from markupsafe import Markup, escape

from kith.errors import printable
from kith.units import rounded


def text(value, most=200):
    """A name from a recording as text of a page."""
    return escape(printable(value, most))


def join(parts):
    return Markup("").join(parts)


def stacked(segments, label=""):
    """A bar of (class, share, title) segments; shares are of the whole width."""
    parts = [Markup('<i class="{}" style="width:{:.4f}%" title="{}"></i>').format(c, 100 * s, t)
             for c, s, t in segments if s > 0.00005]
    return Markup('<span class="bar" role="img" aria-label="{}">{}</span>').format(
        label or ", ".join(str(t) for _, s, t in segments if s > 0.00005), join(parts))


def areas(columns, top, label, lines=()):
    """Areas on top of each other. `columns`: (class, values) from below upwards, with equally many values each; `top`: the
    value at the upper edge; `lines`: (class, value) across."""
    if not columns or len(columns[0][1]) == 0 or top <= 0:
        return Markup('<p class="none">Nothing to draw.</p>')
    count = len(columns[0][1])
    below = [0.0] * count
    parts = []
    for css, values in columns:
        above = [b + float(v) for b, v in zip(below, values)]
        path = ["M0 100"]
        for i in range(count):  # steps: each value holds for its bin
            y = 100 - 100 * above[i] / top
            path.append(f"L{_n(1000 * i / count)} {_n(y)}L{_n(1000 * (i + 1) / count)} {_n(y)}")
        for i in range(count - 1, -1, -1):
            y = 100 - 100 * below[i] / top
            path.append(f"L{_n(1000 * (i + 1) / count)} {_n(y)}L{_n(1000 * i / count)} {_n(y)}")
        parts.append(Markup('<path class="{}" d="{}Z"/>').format(css, "".join(path)))
        below = above
    for css, value in lines:
        if value <= top:
            y = _n(100 - 100 * value / top)
            parts.append(Markup('<line class="{}" x1="0" x2="1000" y1="{}" y2="{}"/>').format(css, y, y))
    return Markup('<svg class="areas" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
                  ).format(label, join(parts))


def box(spread, low, high):
    """A box plot between `low` and `high` on a logarithmic scale: 5th, 25th.. as given in the dictionary."""
    import math

    def at(value):
        if value <= 0 or high <= low:
            return 0.0
        return max(0.0, min(100.0, 100 * (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))))
    line, left, right = at(spread["median"]), at(spread["q1"]), at(spread["q3"])
    a, b, most = at(spread["p5"]), at(spread["p95"]), at(spread["max"])
    return Markup('<svg class="box" viewBox="0 0 100 16" preserveAspectRatio="none" aria-hidden="true">'
                  '<line x1="{}" x2="{}" y1="8" y2="8" class="whisker"/>'
                  '<rect x="{}" y="3" width="{}" height="10"/><line x1="{}" x2="{}" y1="2" y2="14" class="median"/>'
                  '<line x1="{}" x2="{}" y1="5" y2="11" class="most"/></svg>'
                  ).format(_n(a), _n(b), _n(left), _n(max(0.6, right - left)), _n(line), _n(line), _n(most), _n(most))


def heat(rows, columns, values, title, corner="", shown=None):
    """A matrix as a table, whose cells are darker for greater values. `shown(value)` makes the text of a cell."""
    most = max((max(r) for r in values), default=0) or 1
    shown = shown or rounded
    head = join(Markup('<th scope="col">{}</th>').format(c) for c in columns)
    body = join(Markup('<tr><th scope="row">{}</th>{}</tr>').format(
        name, join(_cell(v, most, shown, i == j) for j, v in enumerate(row))) for i, (name, row) in
        enumerate(zip(rows, values)))
    return Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}"><table class="heat"><caption>{}</caption>'
                  '<thead><tr><th scope="col">{}</th>{}</tr></thead><tbody>{}</tbody></table></div>'
                  ).format(title, title, corner, head, body)


def _cell(value, most, shown, diagonal):
    if value <= 0:
        return Markup('<td class="zero">·</td>')
    share = value / most
    css = ("deep" if share > 0.55 else "pale") + (" own" if diagonal else "")
    return Markup('<td class="{}" style="--v:{:.3f}">{}</td>').format(css, share, shown(value))


def legend(entries):
    """(class, text) entries."""
    return Markup('<ul class="legend">{}</ul>').format(
        join(Markup('<li><i class="{}"></i>{}</li>').format(c, t) for c, t in entries))


def _n(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")
