#!/usr/bin/env python3
"""Programs on places: verified for every number of places, and their counts add up.

usage: places_test.py PATH_OF_KITH
"""
from run_kith import Kith

kith = Kith()


PAPER = ("fab_attempts", "fab_seconds", "steal_seconds", "stalled", "deque_mean", "deque_peak")


def ran(*options, app="places_heat"):
    code, r = kith.json("app", app, "--small", *options)
    kith.check(code == 0 and r["verified"] is True, f"{app} {' '.join(options)} is verified")
    counts_bytes(r, f"{app} {' '.join(options)}")
    return r


def counts_bytes(r, what):
    """The bound of docs/finish.md on all bytes, in the form of the ADS paper's Theorem 4.6."""
    kinds = r["by_kind"].values()
    kith.check(sum(k["messages"] for k in kinds) == r["messages"] and sum(k["bytes"] for k in kinds) == r["message_bytes"],
               f"{what}: the kinds of messages add up: {r['by_kind']}")
    if not r["fab_taken"]:
        kith.check(r["bytes_factor"] is None and r["most_edges"] is None, f"{what}: no bound without messages")
        return
    smax, nd, sent = r["largest_spawn"], r["most_edges"], r["fab_taken"]
    kith.check(abs(r["bytes_factor"] * sent * (smax + nd) / r["message_bytes"] - 1) < 1e-9, f"{what}: c is {r['bytes_factor']}")
    kith.check(smax > 64 and nd > 0 and r["by_kind"]["spawn"]["bytes"] <= r["spawns"] * smax, f"{what}: the largest spawn has {smax} bytes")
    most = 3 if r["by_kind"]["result"]["messages"] == 0 else 4
    kith.check(r["bytes_factor"] <= most + 2 * r["fab_refused"] / sent, f"{what}: c is {r['bytes_factor']}, at most {most}")


for places in (1, 2, 4, 7, 16):
    r = ran("--places", str(places), "--workers", "2", "--oversubscribe")
    spawns = 20 * (places - 1) + 20 * 2 * (places - 1)  # a step for each other place, and its border rows
    taken, refused, dones = r["fab_taken"], r["fab_refused"], sum(p["dones"] for p in r["per_place"])
    kith.check(r["places"] == places == len(r["per_place"]) and r["as"] == "ads" and r["transport"] == "threads",
               f"{places} places say what they are")
    kith.check(taken == spawns and r["spawns"] == taken + refused, f"{taken} of {spawns} activities came, {refused} refusals")
    kith.check(r["messages"] == 2 * r["spawns"] + dones and dones <= taken, f"{r['messages']} messages, {dones} of finish()")
    kith.check(places > 1 or r["messages"] == 0, "one place sends no message")
    if places > 1:
        kith.check(r["most_edges"] == places, f"place 0 sends its steps and a border row: {r['most_edges']} of {places}")
        kith.check(r["largest_spawn"] == 64 + 16 + 8 + 8 * 258, f"a border row has {r['largest_spawn']} bytes")
    per_place = r["per_place"]
    kith.check(r["graph_depth"] > 3 and r["stalled"] > 0 and r["deque_peak"] >= r["deque_mean"] > 0, "depth, stalls, deques")
    kith.check(r["fab_attempts"] >= taken and (taken == 0 or r["fab_seconds"] > 0), f"{r['fab_attempts']} looks into buffers")
    kith.check(r["fab_attempts"] == sum(p["fab_attempts"] for p in per_place), "the looks of all places are added up")
    kith.check(r["deque_peak"] == max(p["deque_peak"] for p in per_place), "the longest deque is that of a place")

r = ran("--places", "4", "--workers", "2", "--as", "cws")
kith.check(r["places"] == 4 and r["messages"] == 0 and r["fab_taken"] is None and len(r["per_place"]) == 1, "cws is one group")
kith.check(r["fab_attempts"] is None and r["fab_seconds"] is None and r["steal_seconds"] > 0, "cws steals, and has no buffer")
r = ran("--places", "3", "--waiting", "blocks", "--rows", "2", "--iterations", "7")
kith.check(r["figures"]["rows"] == 2, "more places than rows")
r = ran("--places", "2", "--policy", "steal")
kith.check(r["policy"].startswith("steal"), "another policy inside places")
kith.check([f for f in PAPER if r[f] is not None] == ["stalled"], "what only ads counts is null under another policy")
one, many = ran("--places", "1", "--workers", "1"), ran("--places", "1", "--workers", "3", "--oversubscribe")
kith.check(one["steal_seconds"] == 0 < many["steal_seconds"], "a worker alone does not steal")

for options in (("--places", "1"), ("--places", "3", "--workers", "2", "--oversubscribe"), ("--places", "4", "--as", "cws")):
    r = ran(*options, app="places_md")
    kith.check(r["figures"]["migrations"] > 0 or r["places"] == 1, f"{r['figures']['migrations']} molecules migrate")
    r = ran(*options, app="places_cg")
    kith.check(abs(r["figures"]["zeta"] / 8.5971775078648 - 1) < 1e-10, f"zeta of class S is {r['figures']['zeta']}")
r = ran("--places", "2", "--class", "W", app="places_cg")
kith.check(r["figures"]["rows"] == 7000 and abs(r["figures"]["zeta"] / 10.362595087124 - 1) < 1e-10, "class W")
r = ran("--places", "2", "--class", "A", app="places_cg")
kith.check(r["figures"]["rows"] == 14000 and abs(r["figures"]["zeta"] / 17.130235054029 - 1) < 1e-10, "class A")
kith.refused("app", "places_cg", "--class", "Q", says=["--class Q", "S, W, A, B or C"])
for app in ("places_heat", "places_md", "places_cg"):
    kith.refused("app", app, "--as", "custom", says=["--as custom", "needs processes", "kith launch"])
    kith.refused("app", app, "--as", "nonsense", says=["--as", "nonsense", "ads, cws or custom"])
    kith.check(app in kith.run("apps").stdout, f"kith apps lists {app}")
kith.refused("app", "places_heat", "--places", "0", says=["--places"])
kith.refused("app", "heat", "--small", "--places", "2", says=["heat", "--places"])
kith.finish()
