# Phase 1: counters per rank -> classes of ranks -> representative nodes.
from manynode import cluster


# Measured runs own the host: all cores, so that nothing runs beside them.
rule phase1_profile_ranks:
    output:
        counters=plan.path("profile/nodes-{nodes}-rep-{repetition}/counters.parquet"),
    log:
        plan.path("logs/phase1_profile_ranks/nodes-{nodes}-rep-{repetition}.log"),
    conda:
        "../environment.yaml"
    threads: workflow.cores
    resources:
        **cluster.of_profiling(plan),
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("profile"),
        code=plan.code(
            "phase1_profile",
            "phase2_nodesim/markers",
            "phase2_nodesim/qemu",
            "manynode/qemu",
            "manynode/launch.py",
            "manynode/callgrind.py",
            "manynode/markers.py",
        ),
    shell:
        "manynode profile run --experiment {params.experiment} --nodes {wildcards.nodes}"
        " --repetition {wildcards.repetition} --output {output.counters} > {log} 2>&1"


checkpoint phase1_classify_ranks:
    input:
        counters=expand(
            plan.path("profile/nodes-{nodes}-rep-{repetition}/counters.parquet"),
            nodes=plan.experiment.profile.nodes,
            repetition=range(plan.experiment.profile.repetitions),
        ),
    output:
        classes=plan.path("profile/rank-classes.json"),
        counters=plan.path("profile/counters.parquet"),
    log:
        plan.path("logs/phase1_classify_ranks.log"),
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("classify"),
        code=plan.code("phase1_profile"),
    shell:
        "manynode profile classify --experiment {params.experiment} --classes {output.classes}"
        " --table {output.counters} {input.counters} > {log} 2>&1"
