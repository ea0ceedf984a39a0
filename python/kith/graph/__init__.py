"""Task graphs of recordings: in fragments (fragments.py), reduced (reduced.py), their longest paths (paths.py),
instantaneous parallelism (parallelism.py), and groups of tasks for pictures (aggregate.py)."""

from kith.graph import parallelism
from kith.graph.fragments import FragmentGraph, fragment_graph
from kith.graph.paths import critical_path
from kith.graph.reduced import reduced_graph

__all__ = ["FragmentGraph", "critical_path", "fragment_graph", "reduced_graph"]
