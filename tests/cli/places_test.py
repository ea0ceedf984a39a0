#!/usr/bin/env python3
"""Programs on places: verified for every number of places, and their counts add up.

usage: places_test.py PATH_OF_KITH
"""
from run_kith import Kith

kith = Kith()


def ran(*options):
    code, r = kith.json("app", "places_heat", "--small", *options)
    kith.check(code == 0 and r["verified"] is True, f"places_heat {' '.join(options)} is verified")
    return r


for places in (1, 2, 4, 7, 16):
    r = ran("--places", str(places), "--workers", "2", "--oversubscribe")
    spawns = 20 * (places - 1) + 20 * 2 * (places - 1)  # a step for each other place, and its border rows
    taken, refused, dones = r["fab_taken"], r["fab_refused"], sum(p["dones"] for p in r["per_place"])
    kith.check(r["places"] == places == len(r["per_place"]) and r["as"] == "ads" and r["transport"] == "threads",
               f"{places} places say what they are")
    kith.check(taken == spawns and r["spawns"] == taken + refused, f"{taken} of {spawns} activities came, {refused} refusals")
    kith.check(r["messages"] == 2 * r["spawns"] + dones and dones <= taken, f"{r['messages']} messages, {dones} of finish()")
    kith.check(places > 1 or r["messages"] == 0, "one place sends no message")
    kith.check(r["fab_attempts"] is None and r["graph_depth"] > 3, "what is not measured is null")

r = ran("--places", "4", "--workers", "2", "--as", "cws")
kith.check(r["places"] == 4 and r["messages"] == 0 and r["fab_taken"] is None and len(r["per_place"]) == 1, "cws is one group")
r = ran("--places", "3", "--waiting", "blocks", "--rows", "2", "--iterations", "7")
kith.check(r["figures"]["rows"] == 2, "more places than rows")
r = ran("--places", "2", "--policy", "steal")
kith.check(r["policy"].startswith("steal"), "another policy inside places")
kith.refused("app", "places_heat", "--as", "custom", says=["--as", "custom", "ads or cws"])
kith.refused("app", "places_heat", "--places", "0", says=["--places"])
kith.refused("app", "heat", "--small", "--places", "2", says=["heat", "--places"])
kith.check("places_heat" in kith.run("apps").stdout, "kith apps lists it")
kith.finish()
