# Phase 3: the skeleton with Monte-Carlo compute times on the simulated network -> projection.
from phase3_sst.sst_run import resources as sst_resources


rule phase3_check_network:
    output:
        verdict=plan.path("simulate/preflight.json"),
    log:
        plan.path("logs/phase3_check_network.log"),
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("preflight"),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate preflight --experiment {params.experiment}"
        " --output {output.verdict} > {log} 2>&1"


rule phase3_simulate_point:
    input:
        classes=plan.path("profile/rank-classes.json"),
        profile=lambda wildcards: plan.path(
            f"nodesim/timing-profile-{'ext' if wildcards.technique.startswith('ext') else 'no-ext'}.json"
        ),
        job_profiles=plan.job_profiles(),
        preflight=(
            [plan.path("simulate/preflight.json")]
            if plan.model.simulate.preflight.enabled
            else []
        ),
    output:
        result=plan.path("simulate/{technique}/nodes-{nodes}/result.json"),
        ranks=plan.path("simulate/{technique}/nodes-{nodes}/ranks.parquet"),
        links=plan.path("simulate/{technique}/nodes-{nodes}/links.parquet"),
        link_jobs=plan.path("simulate/{technique}/nodes-{nodes}/link_jobs.parquet"),
    log:
        text=plan.path("logs/phase3_simulate_point/{technique}-{nodes}.log"),
        # No output: it differs from run to run.
        cost=plan.path("logs/phase3_simulate_point/{technique}-{nodes}.cost.csv"),
    conda:
        "../environment.yaml"
    threads: lambda wildcards: plan.processes(int(wildcards.nodes), workflow.cores)
    resources:
        **sst_resources.of_points(plan),
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("simulate"),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate run --experiment {params.experiment} --technique {wildcards.technique}"
        " --nodes {wildcards.nodes} --classes {input.classes} --profile {input.profile}"
        " --processes {threads} --progress --cost {log.cost} --result {output.result} > {log.text} 2>&1"


# One replica for each resample of the timing profile: what its limited samples add to the interval.
rule phase3_simulate_resamples:
    input:
        classes=plan.path("profile/rank-classes.json"),
        profile=lambda wildcards: plan.path(
            f"nodesim/timing-profile-{'ext' if wildcards.technique.startswith('ext') else 'no-ext'}.json"
        ),
        resamples=lambda wildcards: plan.path(
            f"nodesim/resamples-{'ext' if wildcards.technique.startswith('ext') else 'no-ext'}.json"
        ),
        job_profiles=plan.job_profiles(),
        preflight=(
            [plan.path("simulate/preflight.json")]
            if plan.model.simulate.preflight.enabled
            else []
        ),
    output:
        table=plan.path("resamples/{technique}/nodes-{nodes}.parquet"),
    log:
        plan.path("logs/phase3_simulate_resamples/{technique}-{nodes}.log"),
    conda:
        "../environment.yaml"
    threads: plan.cores_of_a_replica
    resources:
        **sst_resources.of_points(plan),
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("simulate"),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate resamples --experiment {params.experiment} --technique {wildcards.technique}"
        " --nodes {wildcards.nodes} --classes {input.classes} --profile {input.profile}"
        " --resamples {input.resamples} --processes {threads} --output {output.table} > {log} 2>&1"


rule phase3_simulate_variant:
    input:
        classes=plan.path("profile/rank-classes.json"),
        profile=lambda wildcards: plan.path(
            f"nodesim/timing-profile-{'ext' if wildcards.technique.startswith('ext') else 'no-ext'}.json"
        ),
        job_profiles=plan.job_profiles(),
        preflight=(
            [plan.path("simulate/preflight.json")]
            if plan.model.simulate.preflight.enabled
            else []
        ),
    output:
        result=plan.path("sensitivity/{variant}/{technique}/nodes-{nodes}/result.json"),
        ranks=plan.path("sensitivity/{variant}/{technique}/nodes-{nodes}/ranks.parquet"),
        links=plan.path("sensitivity/{variant}/{technique}/nodes-{nodes}/links.parquet"),
        link_jobs=plan.path(
            "sensitivity/{variant}/{technique}/nodes-{nodes}/link_jobs.parquet"
        ),
    log:
        plan.path("logs/phase3_simulate_variant/{variant}/{technique}-{nodes}.log"),
    conda:
        "../environment.yaml"
    threads: plan.cores_of_a_replica
    resources:
        **sst_resources.of_points(plan),
    params:
        experiment=plan.path("experiment.json"),
        digest=lambda wildcards: plan.variant_digest(wildcards.variant),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate run --experiment {params.experiment} --variant {wildcards.variant:q}"
        " --technique {wildcards.technique} --nodes {wildcards.nodes} --classes {input.classes}"
        " --profile {input.profile} --processes {threads} --result {output.result:q} > {log:q} 2>&1"


rule phase3_analyse_sensitivity:
    input:
        results=plan.study_results(),
    output:
        points=plan.path("sensitivity.parquet"),
        knees=plan.path("sensitivity_knees.parquet"),
        indices=plan.path("sensitivity_indices.parquet"),
    log:
        plan.path("logs/phase3_analyse_sensitivity.log"),
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        folder=lambda wildcards, output: output.points.removesuffix(".parquet"),
        digest=plan.digest("sensitivity"),
        code=plan.code("phase3_sst"),
    shell:
        "manynode simulate sensitivity --experiment {params.experiment} --points {params.folder}"
        " --output {output.points} > {log} 2>&1"


rule phase3_analyse_points:
    input:
        results=expand(
            plan.path("simulate/{technique}/nodes-{nodes}/result.json"),
            technique=plan.model.techniques,
            nodes=plan.model.nodes,
        ),
        resamples=plan.resampled_results(),
    output:
        projection=plan.path("projection.parquet"),
        makespans=plan.path("makespans.parquet"),
        breakdown=plan.path("breakdown.parquet"),
        parts=plan.path("interval_parts.parquet"),
        jobs=plan.path("jobs.parquet"),
        links=plan.path("links.parquet"),
        link_jobs=plan.path("link_jobs.parquet"),
        series=plan.path("series.parquet"),
        provenance=plan.path("provenance.json"),
    log:
        plan.path("logs/phase3_analyse_points.log"),
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("analyse"),
        code=plan.code("phase3_sst"),
    shell:
        "manynode simulate analyse --experiment {params.experiment}"
        " --projection {output.projection} {input.results} > {log} 2>&1"
