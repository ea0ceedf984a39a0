"""Where the text of an SVG picture is, estimated from its length. For tests that nothing is printed over something else."""

import itertools
import re
import xml.etree.ElementTree as xml

# In em, the average in DejaVu Sans.
NARROW, WIDE = 0.3, 0.58


def texts(svg):
    """(text, left, top, right, bottom) of each piece of text, including the shifts of groups."""
    found = []

    def visit(element, dx, dy, size):
        shift = re.match(r"translate\(([-\d.]+)[ ,]([-\d.]+)\)", element.get("transform", ""))
        if shift:
            dx, dy = dx + float(shift[1]), dy + float(shift[2])
        size = float(element.get("font-size", size))
        if element.tag.endswith("text"):
            x, y = float(element.get("x")) + dx, float(element.get("y")) + dy
            ems = sum(NARROW if letter in " ijlI.,:;|!'" else WIDE for letter in element.text)
            width = ems * size * (1.1 if element.get("font-weight") == "bold" else 1)
            x -= {"end": width, "middle": width / 2}.get(element.get("text-anchor"), 0)
            found.append((element.text, x, y - 0.75 * size, x + width, y + 0.2 * size))
        for child in element:
            visit(child, dx, dy, size)

    visit(xml.fromstring(svg), 0, 0, 12)
    return found


def faults(svg):
    """What lies outside the canvas, and what overlaps."""
    root = xml.fromstring(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    wrong = []
    placed = texts(svg)
    for text, left, top, right, bottom in placed:
        if left < 0 or top < 0 or right > width or bottom > height:
            wrong.append(f"'{text}' leaves the canvas of {width} x {height}: {left:.0f} {top:.0f} {right:.0f} {bottom:.0f}")
    for a, b in itertools.combinations(placed, 2):
        if min(a[3], b[3]) - max(a[1], b[1]) > 0.5 and min(a[4], b[4]) - max(a[2], b[2]) > 0.5:
            wrong.append(f"'{a[0]}' and '{b[0]}' overlap")
    for element in root.iter():
        for x, y, w, h in ((element.get("x"), element.get("y"), element.get("width"), element.get("height")),):
            if element.tag.endswith("rect") and x is not None and (float(x) < -1 or float(y) < -1 or float(w) < 0 or
                                                                   float(x) + float(w) > width or float(y) + float(h) > height):
                wrong.append(f"a box leaves the canvas: {x} {y} {w} {h}")
    return wrong
