"""Numbers for readers: three significant digits, and a true minus sign. For texts and pages."""

MINUS = "\u2212"


def rounded(value):
    """Such as 1.23, or 12 345 of large ones."""
    return count(round(value)) if 999.5 <= abs(value) < float("inf") else _digits(value)


def signed(show, value):
    """A difference as `show` (seconds, percent and so on) writes it, with its sign, such as +1.23 ms; 0 has none."""
    text = show(abs(value))
    return text if text == show(0.0) else ("+" if value > 0 else MINUS) + text


def seconds(value):
    """Such as 1.23 ms."""
    return _scaled(value, ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")))


def size(value):
    """Such as 1.5 MB (of 10^6 bytes)."""
    return _scaled(value, ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")))


def count(value):
    """Such as 12 345."""
    return f"{int(value):,}".replace(",", "\u202f").replace("-", MINUS)


def percent(share):
    """Such as 12.3 %; of small shares, more digits, down to 0.001 %."""
    value = share * 100
    if 0 < abs(value) < 0.001:
        return "<\u202f0.001\u202f%"
    return f"{_digits(value)}\u202f%"


def _digits(value):
    text = f"{abs(value):.0f}" if abs(value) >= 999.5 else f"{abs(value):.3g}"
    return MINUS + text if value < 0 else text


def _scaled(value, units):
    if value != value:
        return "-"
    for scale, unit in units:
        if abs(value) >= scale * 0.9995:
            return f"{_digits(value / scale)}\u202f{unit}"
    scale, unit = units[-1]
    value = value if abs(value) >= scale / 1000 else 0  # of differences of rounded numbers
    return f"{_digits(value / scale)}\u202f{unit}" if value else f"0\u202f{units[0][1] if unit == 'ns' else unit}"
