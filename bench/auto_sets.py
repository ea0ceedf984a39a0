"""The programs, sizes and machines on which bench/auto.py compares policies."""

from auto_seen import SEEN

# Kinds of programs with their sizes, twice.
TUNED_ON = [{
    "batches": "200 1048576 6 0.25",
    "coarse_fill": "480 524288 12 0.15",
    "directions": "576 393216 6 0.3",
    "filled_across": "576 524288 8 0.2",
    "filled_by_one": "320 1048576 12 0.1",
    "gradients": "192 131072 20 0.12",
    "lu_panels": "96 2097152 1 1.5",
    "merge": "256 1048576 1 0.2",
    "mixture": "400 524288 10 0.2",
    "one_graph": "320 786432 14 0.2",
    "pairs": "900 131072 3 1.0",
    "phases": "300 524288 12 0.25",
    "pipeline": "128 524288 5 0.3",
    "power_law": "300 524288 10 0.15",
    "reduce_groups": "512 524288 10 0.15",
    "refined": "256 524288 16 0.25",
    "shared_table": "512 262144 10 0.3",
    "transpose": "484 524288 6 0.2",
    "tree": "512 262144 8 0.3",
    "uneven_wavefront": "900 262144 3 0.8",
    "waits": "160 1048576 16 0.25",
}, {
    "batches": "500 262144 8 1",
    "coarse_fill": "96 4194304 10 0.3",
    "directions": "1600 131072 5 1",
    "filled_across": "256 2097152 6 0.1",
    "filled_by_one": "128 2097152 20 0.3",
    "gradients": "96 32768 40 0.3",
    "lu_panels": "160 1048576 1 4",
    "merge": "512 262144 1 0.5",
    "mixture": "150 2097152 12 0.1",
    "one_graph": "160 2097152 10 0.1",
    "pairs": "2500 32768 4 2.0",
    "phases": "600 196608 16 0.1",
    "pipeline": "300 196608 4 1",
    "power_law": "150 2097152 12 0.3",
    "reduce_groups": "200 2097152 10 0.1",
    "refined": "128 2097152 10 0.1",
    "shared_table": "256 131072 16 0.1",
    "transpose": "196 2097152 5 0.1",
    "tree": "256 1048576 6 0.1",
    "uneven_wavefront": "400 1048576 3 0.2",
    "waits": "80 524288 30 0.1",
}]

# Programs with their sizes, and machines. A set consists of groups; in a group, every program runs on every machine.
SETS = {
    **SEEN,
    "tuning": [{
        "programs": {
            "gauss_seidel": "--paper",
            "nstream": "--paper",
            "qr": "--paper",
            "cg_tasks": "--paper",
            "heat": "--as dataflow --size 8192 --rows 32768 --iterations 8 --block 64",
            "cholesky": "--size 8192 --block 256",
            "map": "--size 262144",
            "nqueens": "--size 14 --depth 4",
        },
        "machines": ["bullion-s16-8", "xeon-8s", "hybrid-laptop"],
    }],
    # Each of these has served as the judging set once. What it showed was fixed, so the policy is now tuned
    # on it as well.
    # Kinds of programs (bench/kinds) on which the policy was tuned.
    "tuning-kinds": [{
        "kinds": TUNED_ON[0],
        "machines": ["dies-2x2", "ring-4", "memory-node", "one-64", "epyc-2x4", "bullion-s16-8"],
    }, {
        "kinds": TUNED_ON[1],
        "machines": ["dies-2x2", "ring-4", "memory-node", "one-64", "epyc-2x4", "bullion-s16-8"],
    }],
    # Kinds in other sizes on machines that were not there before. The set was fixed before any of it was run. If the policy
    # is changed after it judged it, another must be fixed first.
    "judging": [{
        "kinds": {
            "batches": "250 786432 6 0.45",
            "big_arrays": "1900 131072 11 0.3",
            "bursts": "200 327680 6 0.35",
            "coarse_fill": "310 851968 10 0.3",
            "deep_halo": "250 655360 12 0.3",
            "directions": "841 229376 6 0.4",
            "filled_across": "529 589824 7 0.3",
            "filled_by_one": "300 589824 13 0.3",
            "floyd_warshall": "225 163840 2 0.7",
            "fronts": "350 458752 2 1.4",
            "gradients": "136 106496 20 0.25",
            "k_means": "380 524288 13 0.6",
            "lu_panels": "100 1048576 1 2",
            "merge": "230 720896 1 0.4",
            "mixed_grain": "300 327680 13 0.3",
            "mixture": "340 589824 9 0.3",
            "one_graph": "330 655360 12 0.3",
            "pairs": "1444 81920 3 0.9",
            "particles": "320 524288 10 0.35",
            "phases": "340 491520 10 0.3",
            "pipeline": "170 425984 6 0.45",
            "power_law": "270 655360 9 0.3",
            "reduce_groups": "400 655360 10 0.25",
            "refined": "230 524288 14 0.3",
            "shared_table": "340 245760 11 0.35",
            "transpose": "441 589824 6 0.3",
            "tree": "420 393216 8 0.3",
            "tree_sums": "290 524288 9 0.3",
            "triangular_solve": "520 262144 6 0.35",
            "uneven_wavefront": "729 425984 3 0.7",
            "waits": "160 589824 19 0.3",
        },
        "machines": ["ring-5", "unequal-2x2", "wide-2", "one-40"],
    }],
}
