# Phase 1: counters per rank -> classes of ranks -> representative nodes.


rule phase1_resolve_experiment:
    output:
        plan.path("experiment.json"),
    log:
        plan.path("logs/phase1_resolve_experiment.log"),
    localrule: True
    params:
        digest=plan.resolved.digest(),
    run:
        plan.write(output[0])


# Measured runs own the host: all cores, so that nothing runs beside them.
rule phase1_profile_ranks:
    input:
        experiment=ancient(plan.path("experiment.json")),
    output:
        counters=plan.path("profile/nodes-{nodes}-rep-{repetition}/counters.parquet"),
    log:
        plan.path("logs/phase1_profile_ranks/nodes-{nodes}-rep-{repetition}.log"),
    conda:
        "../environment.yaml"
    threads: workflow.cores
    params:
        manynode=plan.command,
        digest=plan.digest("profile"),
        code=plan.code("phase1_profile", "phase2_nodesim/markers", "manynode/launch.py"),
    shell:
        "{params.manynode} profile run --experiment {input.experiment} --nodes {wildcards.nodes}"
        " --repetition {wildcards.repetition} --output {output.counters} > {log} 2>&1"


checkpoint phase1_classify_ranks:
    input:
        experiment=ancient(plan.path("experiment.json")),
        counters=expand(
            plan.path("profile/nodes-{nodes}-rep-{repetition}/counters.parquet"),
            nodes=plan.model.profile.nodes,
            repetition=range(plan.model.profile.repetitions),
        ),
    output:
        classes=plan.path("profile/rank-classes.json"),
        counters=plan.path("profile/counters.parquet"),
    log:
        plan.path("logs/phase1_classify_ranks.log"),
    conda:
        "../environment.yaml"
    params:
        manynode=plan.command,
        digest=plan.digest("classify"),
        code=plan.code("phase1_profile"),
    shell:
        "{params.manynode} profile classify --experiment {input.experiment} --classes {output.classes}"
        " --table {output.counters} {input.counters} > {log} 2>&1"
