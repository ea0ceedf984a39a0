"""kith compare: the differences of two recordings, and their causes."""

import json

SUMMARY = "what differs between two recorded runs, and why"


def add_arguments(parser):
    parser.add_argument("a", metavar="A", help="a recording")
    parser.add_argument("b", metavar="B", help="another one of the same program")
    parser.add_argument("--json", action="store_true", help="write JSON")


def run(options):
    from kith.compare import of_files
    from kith.progress import Progress

    progress = Progress()
    found = of_files([options.a, options.b], progress)
    progress.clear()
    print(json.dumps(found, indent=1) if options.json else text(found))


def text(found, most=12):
    from kith.compare import CLOCK, NOISE, alike
    from kith.errors import printable
    from kith.units import percent, rounded, seconds

    a, b = found["makespan_s"]
    lines = [f"note: {printable(w, 300)}" for w in found["warnings"]]
    if found["causes"]:
        lines.append(f"A took {seconds(a)}, B {seconds(b)}" + (f", {rounded(b / a)} times as long" if a > 0 else ""))
        if alike((a, b)):
            lines.append(f"The runs take the same time within {percent(NOISE)}: so small a difference has no causes.")
        else:
            lines += ["", *_causes([c for c in found["causes"] if max(abs(c["a"]), abs(c["b"])) >= CLOCK], NOISE * max(a, b), most)]
    facts = found["facts"]
    lines += [*([""] if lines else []), *(f"{name:<13} {show(facts[key][0])} and {show(facts[key][1])}" for name, key, show in (
        ("policy", "policy", lambda v: printable(v, 60) or "-"), ("workers", "workers", str), ("work", "work_s", seconds),
        ("critical path", "span_s", seconds), ("steals", "steals", str),
        ("remote bytes", "remote_share", lambda v: "not known" if v is None else percent(v))))]
    lines += ["", "task types:  number in A and B, mean time in A and B"]
    lines += [f"  {printable(t['name'], 40):<24} {t['count'][0]:>9} {t['count'][1]:>9}  {seconds(t['mean_s'][0]):>10} {seconds(t['mean_s'][1]):>10}"
              for t in found["types"][:most]]
    return "\n".join(lines + [f"note: {printable(n, 300)}" for n in found["notes"]])


def _causes(causes, least, most):
    """The table of causes that differ by at least `least` seconds, at most so many, and the sum of all others."""
    from kith.errors import printable
    from kith.units import MINUS, percent, seconds, signed

    shown = [c for c in causes if abs(c["b"] - c["a"]) >= least][:most]
    others = [c for c in causes if c not in shown]
    if others:
        what = f"{len(others)} cause{'s' if len(others) != 1 else ''} that differ{'s' if len(others) == 1 else ''} by less"
        shown.append({"what": what} | {key: sum(c[key] for c in others) for key in ("a", "b", "share")})
    return ["why, in seconds of the run (means over its workers):", f"  {'A':>10}  {'B':>10}  {f'B {MINUS} A':>10}    share",
            *(f"  {seconds(c['a']):>10}  {seconds(c['b']):>10}  {signed(seconds, c['b'] - c['a']):>10}  {percent(c['share']):>7}  "
              f"{printable(c['what'], 80)}" for c in shown)]
