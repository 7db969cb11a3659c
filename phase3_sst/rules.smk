# Phase 3: the skeleton with Monte-Carlo compute times on the simulated network -> projection.
from pathlib import Path

from manynode.config.studies import STUDIES
from phase3_sst.analysis.estimates import step_resources
from phase3_sst.studies.confirmation import second_engine

# What to do to have the engine that confirms a study; empty where it is installed.
confirm_lacks = second_engine.lacks(plan.resolved.content)
confirm_engine = second_engine.engine_of_study(plan.resolved.content)


# A failed check leaves no verdict and stops the workflow. The rules below wait for the verdict, but its content affects no
# result: as an ancient() input, a check with other settings repeats no simulation.
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
        preflight=ancient(plan.preflight_verdict()),
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
        **step_resources.of_points(plan),
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
        preflight=ancient(plan.preflight_verdict()),
    output:
        table=plan.path("resamples/{technique}/nodes-{nodes}.parquet"),
    log:
        plan.path("logs/phase3_simulate_resamples/{technique}-{nodes}.log"),
    conda:
        "../environment.yaml"
    threads: plan.cores_of_a_replica
    resources:
        **step_resources.of_points(plan),
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
        preflight=ancient(plan.preflight_verdict()),
    output:
        result=plan.path("{study}/{variant}/{technique}/nodes-{nodes}/result.json"),
        ranks=plan.path("{study}/{variant}/{technique}/nodes-{nodes}/ranks.parquet"),
        links=plan.path("{study}/{variant}/{technique}/nodes-{nodes}/links.parquet"),
        link_jobs=plan.path(
            "{study}/{variant}/{technique}/nodes-{nodes}/link_jobs.parquet"
        ),
    log:
        plan.path(
            "logs/phase3_simulate_variant/{study}/{variant}/{technique}-{nodes}.log"
        ),
    wildcard_constraints:
        study="|".join(STUDIES),
    conda:
        "../environment.yaml"
    threads: plan.cores_of_a_replica
    resources:
        **step_resources.of_points(plan),
    params:
        experiment=plan.path("experiment.json"),
        digest=lambda wildcards: plan.steps.variant_digest(wildcards.variant),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate run --experiment {params.experiment} --variant {wildcards.variant:q}"
        " --technique {wildcards.technique} --nodes {wildcards.nodes} --classes {input.classes}"
        " --profile {input.profile} --processes {threads} --result {output.result:q} > {log:q} 2>&1"


rule phase3_analyse_sensitivity:
    input:
        results=plan.study_results("sensitivity"),
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


rule phase3_analyse_scaling:
    input:
        variants=plan.study_results("scaling"),
        results=[
            plan.path(f"simulate/{technique}/nodes-{nodes}/result.json")
            for technique, nodes in plan.loss_points()
        ],
    output:
        losses=plan.path("scaling.parquet"),
    log:
        plan.path("logs/phase3_analyse_scaling.log"),
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        folder=lambda wildcards, output: Path(output.losses).parent,
        digest=plan.digest("scaling"),
        code=plan.code("phase3_sst"),
    shell:
        "manynode simulate scaling --experiment {params.experiment} --points {params.folder}"
        " --output {output.losses} > {log} 2>&1"


rule phase3_analyse_validation:
    input:
        projection=plan.path("projection.parquet"),
        breakdown=plan.path("breakdown.parquet"),
    output:
        points=plan.path("validation.parquet"),
        summary=plan.path("validation_summary.parquet"),
        region=plan.path("validation_region.parquet"),
        breakdown=plan.path("validation_breakdown.parquet"),
    log:
        plan.path("logs/phase3_analyse_validation.log"),
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("validation"),
        code=plan.code("phase3_sst"),
    shell:
        "manynode simulate validate --experiment {params.experiment} --projection {input.projection}"
        " --output {output.points} > {log} 2>&1"


rule phase3_validate_collectives:
    output:
        plan.path("validation_collectives.parquet"),
    log:
        plan.path("logs/phase3_validate_collectives.log"),
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("collectives"),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate validate-collectives --experiment {params.experiment} --output {output} > {log} 2>&1"


rule phase3_confirm_variant:
    input:
        classes=plan.path("profile/rank-classes.json"),
        profile=lambda wildcards: plan.path(
            f"nodesim/timing-profile-{'ext' if wildcards.technique.startswith('ext') else 'no-ext'}.json"
        ),
        job_profiles=plan.job_profiles(),
    output:
        result=plan.path("confirm/{variant}/{technique}/nodes-{nodes}/result.json"),
        ranks=plan.path("confirm/{variant}/{technique}/nodes-{nodes}/ranks.parquet"),
        links=plan.path("confirm/{variant}/{technique}/nodes-{nodes}/links.parquet"),
        link_jobs=plan.path(
            "confirm/{variant}/{technique}/nodes-{nodes}/link_jobs.parquet"
        ),
    log:
        plan.path("logs/phase3_confirm_variant/{variant}/{technique}-{nodes}.log"),
    conda:
        "../environment.yaml"
    threads: plan.model.simulate.sst.cores() if confirm_engine == "sst" else 1
    resources:
        **step_resources.of_points(plan, confirm_engine),
    params:
        experiment=plan.path("experiment.json"),
        digest=lambda wildcards: plan.steps.confirmed_digest(wildcards.variant),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate run --experiment {params.experiment} --variant {wildcards.variant:q} --confirm"
        " --technique {wildcards.technique} --nodes {wildcards.nodes} --classes {input.classes}"
        " --profile {input.profile} --processes {threads} --result {output.result:q} > {log:q} 2>&1"


rule phase3_compare_confirmed:
    input:
        results=plan.study_results("sensitivity"),
        confirmed=[] if confirm_lacks else plan.confirmed_results(),
    output:
        table=plan.path("confirmation.parquet"),
        summary=plan.path("confirmation.json"),
    log:
        plan.path("logs/phase3_compare_confirmed.log"),
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        points=lambda wildcards, output: str(
            Path(output.table).with_name("sensitivity")
        ),
        confirmed=lambda wildcards, output: str(Path(output.table).with_name("confirm")),
        lacks=f"--lacks '{confirm_lacks}'" if confirm_lacks else "",
        digest=plan.digest("sensitivity"),
        code=plan.code("phase3_sst"),
    shell:
        "manynode simulate confirm --experiment {params.experiment} --points {params.points}"
        " --confirmed {params.confirmed} {params.lacks} --output {output.table} > {log} 2>&1"


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
        iterations=plan.path("iterations.parquet"),
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
