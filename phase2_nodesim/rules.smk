# Phase 2: compute times between MPI calls -> timing profile, with (ext) and without (no-ext) external ranks.
from manynode import cluster


# Which nodes are simulated is in their wildcards: classes that are written anew do not make a simulated node stale.
rule phase2_simulate_node:
    input:
        classes=ancient(plan.path("profile/rank-classes.json")),
    output:
        segments=plan.path("nodesim/{mode}/node-{node}/segments.parquet"),
    log:
        plan.path("logs/phase2_simulate_node/{mode}-{node}.log"),
    wildcard_constraints:
        mode="(ext|no-ext)(-control)?",
    conda:
        "../environment.yaml"
    threads: workflow.cores
    resources:
        **cluster.of_node_simulation(plan),
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("nodesim"),
        code=plan.code(
            "phase2_nodesim",
            "manynode/qemu",
            "manynode/launch.py",
            "manynode/callgrind.py",
            "manynode/markers.py",
        ),
    shell:
        "manynode nodesim run --experiment {params.experiment} --mode {wildcards.mode}"
        " --node {wildcards.node} --output {output.segments} > {log} 2>&1"


# A node that runs alone is node 0 of its job, whichever node represents it in the larger one.
rule phase2_fit_profile:
    input:
        classes=plan.path("profile/rank-classes.json"),
        segments=lambda wildcards: expand(
            plan.path("nodesim/{{mode}}/node-{node}/segments.parquet"),
            node=(
                plan.representative_nodes(
                    checkpoints.phase1_classify_ranks.get().output.classes
                )
                if wildcards.mode == "ext"
                else [0]
            ),
        ),
    output:
        profile=plan.path("nodesim/timing-profile-{mode}.json"),
        segments=plan.path("nodesim/{mode}/segments.parquet"),
    log:
        plan.path("logs/phase2_fit_profile/{mode}.log"),
    wildcard_constraints:
        mode="ext|no-ext",
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("fit"),
        code=plan.code("phase2_nodesim"),
    shell:
        "manynode nodesim fit --experiment {params.experiment} --mode {wildcards.mode}"
        " --classes {input.classes} --profile {output.profile} --table {output.segments}"
        " {input.segments} > {log} 2>&1"


# The simulated times as they were, for phase 3 to compare the draws with.
rule phase2_write_series:
    input:
        profile=plan.path("nodesim/timing-profile-{mode}.json"),
        segments=plan.path("nodesim/{mode}/segments.parquet"),
    output:
        series=plan.path("nodesim/series-{mode}.json"),
    log:
        plan.path("logs/phase2_write_series/{mode}.log"),
    wildcard_constraints:
        mode="ext|no-ext",
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("fit"),
        code=plan.code("phase2_nodesim"),
    shell:
        "manynode nodesim series --experiment {params.experiment} --profile {input.profile}"
        " --output {output.series} {input.segments} > {log} 2>&1"


# What limited samples leave unknown: simulate: profile_bootstrap.
rule phase2_resample_profile:
    input:
        classes=plan.path("profile/rank-classes.json"),
        segments=plan.path("nodesim/{mode}/segments.parquet"),
    output:
        resamples=plan.path("nodesim/resamples-{mode}.json"),
    log:
        plan.path("logs/phase2_resample_profile/{mode}.log"),
    wildcard_constraints:
        mode="ext|no-ext",
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        resamples=plan.experiment.simulate.profile_bootstrap,
        digest=plan.digest("fit"),
        code=plan.code("phase2_nodesim"),
    shell:
        "manynode nodesim resample --experiment {params.experiment} --mode {wildcards.mode}"
        " --classes {input.classes} --count {params.resamples} --output {output.resamples}"
        " {input.segments} > {log} 2>&1"
