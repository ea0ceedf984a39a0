"""kith placement: pictures of where data is, in recorded and simulated runs side by side."""

from run_kith import Kith

kith = Kith()
path = kith.file


def record(name, *arguments, dry=()):
    done = kith.run("record", *dry, "-o", path(name), "--", "kith", "app", *arguments, "--machine", "node:8 core:1",
                    "--workers", "8", "--oversubscribe")
    kith.check(done.returncode == 0, f"{name} is recorded: {done.stderr}")
    return path(name)


# The recorded run itself: 8 x 8 tiles, whose columns the program divides among the nodes.
seidel = record("seidel.rec", "gauss_seidel", "--size", "256", "--block", "32", "--iterations", "3", "--policy", "socket")
code, shown = kith.json("placement", seidel)
kith.check(code == 0 and (shown["shape"], shown["rows"], shown["columns"]) == ("grid", 8, 8), f"8 x 8: {shown['shape']}")
(run,) = shown["runs"]
kith.check(run["policy"] == "socket" and len(run["cells"]) == 64, "a cell for each tile")
kith.check(all(c["home"] == c["column"] for c in run["cells"]), "each node has a column of tiles")
kith.check(run["bytes_by_node"] == [8 * 32 * 32 * 8] * 8, f"which have equally much: {run['bytes_by_node']}")
kith.check(run["balance"] == 1, "in balance")
kith.check(all(c["tasks"] == 4 for c in run["cells"]), "each tile is written once at first, and three times")
done = kith.run("placement", seidel)
kith.check(done.stdout.count("  01234567\n") == 8, f"people see the columns: {done.stdout}")
kith.check("8 rows of 8, found from the dependences" in done.stdout, "and how they were found")

# Side by side, on a machine of another size.
picture = path("four.svg")
four = ("placement", seidel, "--policy", "dfifo:steal=off,socket,dep,rip-dep", "--machine", "bullion-s16-8")
code, shown = kith.json(*four, "-o", picture)
kith.check([r["policy"] for r in shown["runs"]] == ["dfifo:steal=off", "socket", "dep", "rip-dep"], "four runs")
socket, dep = shown["runs"][1], shown["runs"][2]
kith.check(all(c["home"] == c["column"] for c in socket["cells"]), "as recorded")
kith.check(dep["tasks_at_home_percent"] == 100, "under dep tasks run where their tile is")
kith.check(dep["balance"] > socket["balance"] == 1, "and nodes are drawn: not equally often")
kith.check(0 < socket["cut_percent"] < dep["cut_percent"] <= 100, "neighbours are together where the expert says so")
svg = open(picture).read()
kith.check(svg.startswith("<svg") and svg.count('font-weight="bold"') == 4, "a picture of four panels")
kith.check(len(svg) < 40000, f"that is small: {len(svg)}")
again = path("again.svg")
kith.json(*four, "-o", again)
kith.check(open(again).read() == svg, "the same every time")
done = kith.run(*four, "-o", path("four.png"))
if done.returncode == 0:
    kith.check(open(path("four.png"), "rb").read(4) == b"\x89PNG", "PNG as well")
else:
    kith.check("librsvg2-bin" in done.stderr, f"or what it needs: {done.stderr}")

# The graph of the tasks instead.
code, shown = kith.json(*four, "--tasks", "256", "-o", path("graph.svg"))
kith.check(shown["graph"]["tasks"] == 192, f"three iterations; what initialises stands alone: {shown['graph']}")
apart = [r["edges_apart_percent"] for r in shown["runs"]]
kith.check(0 < apart[1] < apart[2] <= 100, f"the expert cuts fewer edges than dep does: {apart}")
kith.check(open(path("graph.svg")).read().count('stroke="#c00"') == 4, "what is cut is red, in four panels")

# A simulated run that was kept, and other shapes.
kept = path("kept.rec")
kith.run("sim", seidel, "--policy", "socket", "-o", kept)
code, shown = kith.json("placement", kept)
kith.check([c["home"] for c in shown["runs"][0]["cells"]] == [c["home"] for c in socket["cells"]], "kept as simulated")
triangle = record("triangle.rec", "cholesky", "--size", "512", "--block", "64", dry=("--dry",))
code, shown = kith.json("placement", triangle, "--policy", "dep")
kith.check((shown["shape"], shown["rows"], shown["blocks"]) == ("triangle", 8, 36), f"a lower triangle: {shown['shape']}")
rows = record("rows.rec", "heat", "--small", "--policy", "dep")
code, shown = kith.json("placement", rows)
kith.check((shown["rows"], shown["columns"]) == (2, 18), f"two buffers of 16 blocks of rows and the rows beside them: {shown['rows']}")
code, told = kith.json("placement", rows, "--grid", "line")
kith.check((told["shape"], told["rows"], told["told"]) == ("line", 36, True), "the grid can be told")

# Wrong input.
kith.refused("placement", triangle, says=["no homes", "--policy A,B --machine NAME"])
kith.refused("placement", seidel, "--grid", "3x5", says=["has 15 cells", "64 blocks"])
kith.refused("placement", seidel, "--array", "99", says=["--array 99", "expected a number below"])
kith.refused("placement", seidel, "--policy", "a,b,c,d,e", says=["5 policies", "up to 4"])
kith.refused("placement", seidel, "--policy", "no-such-policy", says=["no-such-policy"])
kith.refused("placement", seidel, "--machine", "bullion-s16-8", says=["--policy A,B"])
kith.refused("placement", seidel, "-o", path("picture.gif"), says=[".svg or .png"])
kith.refused("placement", path("nothing"), says=["there is no such file"])
nothing = record("nothing.rec", "nqueens", "--small")
kith.refused("placement", nothing, says=["no regions"])

kith.finish()
