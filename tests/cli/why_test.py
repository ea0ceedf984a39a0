"""kith why: where a task of a recorded run ran, and what is known about the reason, on native and simulated recordings."""

import sqlite3

from run_kith import Kith, rows

kith = Kith()
path = kith.file


def row(file, query):
    return rows(file, query)[0]


def record(name, *arguments):
    done = kith.run("record", "-o", path(name), "--", "kith", "app", *arguments, "--machine", "node:2 core:2",
                    "--workers", "4", "--oversubscribe", "--small")
    kith.check(done.returncode == 0, f"{name} is recorded: {done.stderr}")
    return path(name)


# A native run: the nodes and times are those of the file.
native = record("native.rec", "gauss_seidel", "--policy", "dep")
code, found = kith.json("why", native, "gauss_seidel:100")
kith.check(code == 0 and found["type"] == "gauss_seidel" and found["policy"] == "dep", "the task is found by its type")
worker, created, ready, started, ended = row(
    native, f"SELECT worker, created_ns, ready_ns, started_ns, ended_ns FROM task WHERE id = {found['task']}")
kith.check((found["worker"], found["started_ns"], found["ended_ns"]) == (worker, started, ended), "it ran there and then")
kith.check(found["waited_ns"] == started - ready, "it waited from ready to start")
kith.check(created <= ready <= started <= ended, "times are in order")
kith.check(kith.json("why", native, str(found["task"]))[1] == found, "the number says the same")
kith.check(len(found["nodes"]) == 2 and sum(n["workers"] for n in found["nodes"]) == 4, "each node is there")
for d in found["data"]:
    kith.check(sum(d["home_bytes"]) + d["nowhere_bytes"] == d["declared_bytes"], f"all bytes are somewhere: {d}")
    kith.check(d["writer"] is not None, "the program has written everything before")
declared = sum(d["declared_bytes"] for d in found["data"])
kith.check(sum(n["home_bytes"] for n in found["nodes"]) == declared, "the bytes of the nodes are those of the accesses")
most = max(found["nodes"], key=lambda n: n["home_bytes"])
kith.check(found["node"] == most["node"], f"under dep it ran where most of its data was: {found['nodes']}")
kith.check("most of its data" in found["reasons"][0], f"and that is the reason: {found['reasons']}")
kith.check(found["machine"] == "node:2 core:2", "the distances are the recorded machine's")
kith.check(all(n["data_ns"] is None and n["weighted_bytes"] >= declared for n in found["nodes"]), "rates are not known")
code, first = kith.json("why", native, "gauss_seidel_initial:0")
kith.check(first["data"][0]["nowhere_bytes"] == first["data"][0]["declared_bytes"], "nobody had touched it")
kith.check("no home yet" in first["reasons"][0], f"so its node was drawn: {first['reasons']}")

# With a described machine: the time for the data, by node.
code, timed = kith.json("why", native, "gauss_seidel:100", "--machine", "bullion-s16-8")
times = [n["data_ns"] for n in timed["nodes"]]
kith.check(timed["machine"] == "bullion-s16-8" and all(t > 0 for t in times), "data times on it")
kith.check(times[most["node"]] < times[1 - most["node"]], f"the node that has the data is the nearer one: {times}")
done = kith.run("why", native, "gauss_seidel:100")
for text in ("ran on worker", "what it was", "waited", "its data", "on each node", "<- it ran here"):
    kith.check(text in done.stdout, f"people read '{text}': {done.stdout}")

# A simulated run, recorded on a described machine.
simulated = path("simulated.rec")
done = kith.run("sim", native, "--machine", "bullion-s16-8", "--policy", "socket", "-o", simulated)
kith.check(done.returncode == 0, f"it is simulated: {done.stderr}")
code, found = kith.json("why", simulated, "gauss_seidel:100")
kith.check(found["machine"] == "bullion-s16-8" and found["nodes"][7]["data_ns"] > 0, "its machine is known")
kith.check(found["node"] == found["node_hint"], f"socket does as it is told: {found['node']}, {found['node_hint']}")
kith.check(found["created_ns"] <= found["ready_ns"] <= found["started_ns"], "times are the simulated run's")
kith.check(row(simulated, "SELECT count(*) FROM home")[0] > 0, "homes are recorded")
done = kith.run("sim", native, "--policy", "steal", "-o", simulated)
stolen = row(simulated, "SELECT count(*) FROM steal")[0]
kith.check(stolen > 0, "somebody steals")
with sqlite3.connect(simulated) as db:
    ids = [t for (t,) in db.execute("SELECT id FROM task WHERE flags & 65 = 0 ORDER BY started_ns LIMIT 60")]
reasons = [kith.json("why", simulated, str(t))[1]["reasons"][0] for t in ids[:40]]
kith.check(any(r.startswith("stolen: worker") for r in reasons), f"thefts are seen: {set(reasons)}")

# A keyed graph.
graph = record("graph.rec", "heat", "--policy", "nabbitc")
key = row(graph, "SELECT key FROM task WHERE flags & 2 != 0 AND color >= 0 ORDER BY id LIMIT 1")[0]
code, found = kith.json("why", graph, f"key:{key}")
kith.check(code == 0 and found["key"] == key % (1 << 64), f"a node is found by its key: {found['key']}, {key}")
kith.check(found["color_hint"] is not None and "color" in " ".join(found["reasons"]), "its color is a reason")

# Wrong input.
kith.refused("why", native, "999999", says=["no task '999999'", "expected a number below", "gauss_seidel:0 to"])
kith.refused("why", native, "gauss_seidel:99999", says=["there are gauss_seidel:0 to gauss_seidel:"])
kith.refused("why", native, "gemm:1", says=["no task 'gemm:1'", "gauss_seidel_initial:0 to"])
kith.refused("why", native, "key:7", says=["no keyed or static graph"])
kith.refused("why", path("nothing"), "1", says=["there is no such file"])
kith.refused("why", native, "1", "--machine", "no-such-machine", says=["no machine 'no-such-machine'"])
kith.refused("why", simulated, "1", "--machine", "bullion-s16-4", says=["4 memory nodes", "expected a machine with as many"])
kith.refused("why", native, says=["task is required"])

kith.finish()
