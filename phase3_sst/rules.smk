# Phase 3: the skeleton with Monte-Carlo compute times on the simulated network -> projection.
from manynode.config.experiment import mode_of, most_complete
from phase3_sst.analysis.estimates import step_resources
from phase3_sst.point.flow_choice import is_chosen
from phase3_sst.studies.confirmation import second_engine

# Trials choose the flow control where the network leaves it open; the files are inputs of the points then.
tried = is_chosen(plan.experiment)
flow_control = [plan.path("simulate/flow-control.json")] if tried else []
flow_control_studies = (
    [plan.path("simulate/flow-control-studies.json")] if tried else []
)

# The report says what was chosen.
flow_control_files = (
    [*flow_control, *(flow_control_studies if plan.steps.variants else [])]
    if tried
    else []
)

# The engine that confirms a study.
confirm_engine = second_engine.engine_of_study(plan.experiment)


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


rule phase3_choose_flow_control:
    input:
        classes=plan.path("profile/rank-classes.json"),
        profile=plan.path(
            f"nodesim/timing-profile-{mode_of(most_complete(plan.experiment.techniques))}.json"
        ),
        job_profiles=plan.job_profiles(),
        preflight=ancient(plan.preflight_verdict()),
    output:
        choice=plan.path("simulate/flow-control.json"),
    log:
        plan.path("logs/phase3_choose_flow_control.log"),
    conda:
        "../environment.yaml"
    threads: step_resources.trials_at_once(workflow.cores)
    resources:
        **step_resources.of_trials(plan),
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("flow-control"),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate flow-control --experiment {params.experiment} --classes {input.classes}"
        " --processes {threads} --output {output.choice} {input.profile} > {log} 2>&1"


# A study that is added later changes nothing of the experiment's own choice.
rule phase3_choose_flow_control_of_studies:
    input:
        base=plan.path("simulate/flow-control.json"),
        classes=plan.path("profile/rank-classes.json"),
        profiles=expand(
            plan.path("nodesim/timing-profile-{mode}.json"), mode=plan.modes
        ),
        job_profiles=plan.job_profiles(),
    output:
        choice=plan.path("simulate/flow-control-studies.json"),
    log:
        plan.path("logs/phase3_choose_flow_control_of_studies.log"),
    conda:
        "../environment.yaml"
    threads: step_resources.trials_at_once(workflow.cores)
    resources:
        **step_resources.of_trials(plan),
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("flow-control-studies"),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate flow-control --experiment {params.experiment} --classes {input.classes}"
        " --base {input.base} --processes {threads} --output {output.choice} {input.profiles} > {log} 2>&1"


rule phase3_check_draws:
    input:
        profile=plan.path("nodesim/timing-profile-{mode}.json"),
        series=plan.path("nodesim/series-{mode}.json"),
    output:
        draws=plan.path("simulate/draws-{mode}.json"),
    log:
        plan.path("logs/phase3_check_draws/{mode}.log"),
    wildcard_constraints:
        mode="ext|no-ext",
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("draws"),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate draws --experiment {params.experiment} --profile {input.profile}"
        " --series {input.series} --output {output.draws} > {log} 2>&1"


rule phase3_simulate_point:
    input:
        classes=plan.path("profile/rank-classes.json"),
        profile=lambda wildcards: plan.path(
            f"nodesim/timing-profile-{'ext' if wildcards.technique.startswith('ext') else 'no-ext'}.json"
        ),
        job_profiles=plan.job_profiles(),
        preflight=ancient(plan.preflight_verdict()),
        flow_control=flow_control,
    output:
        result=plan.path("simulate/{technique}/nodes-{nodes}/result.json"),
        ranks=plan.path("simulate/{technique}/nodes-{nodes}/ranks.parquet"),
        links=plan.path("simulate/{technique}/nodes-{nodes}/links.parquet"),
        link_jobs=plan.path("simulate/{technique}/nodes-{nodes}/link_jobs.parquet"),
    log:
        text=plan.path("logs/phase3_simulate_point/{technique}-{nodes}.log"),
        # No output: it differs from run to run.
        cost=plan.path("logs/phase3_simulate_point/{technique}-{nodes}.cost.csv"),
    priority: step_resources.largest_first
    conda:
        "../environment.yaml"
    threads: lambda wildcards: plan.processes(int(wildcards.nodes), workflow.cores)
    resources:
        **step_resources.of_points(plan),
    params:
        choice=lambda wildcards, input: (
            f" --flow-control {input.flow_control}" if tried else ""
        ),
        experiment=plan.path("experiment.json"),
        digest=plan.digest("simulate"),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate run --experiment {params.experiment} --technique {wildcards.technique}"
        " --nodes {wildcards.nodes} --classes {input.classes} --profile {input.profile}"
        " --processes {threads} --progress --cost {log.cost} --result {output.result}{params.choice} > {log.text} 2>&1"


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
        flow_control=flow_control,
    output:
        table=plan.path("resamples/{technique}/nodes-{nodes}.parquet"),
    log:
        plan.path("logs/phase3_simulate_resamples/{technique}-{nodes}.log"),
    priority: step_resources.largest_first
    conda:
        "../environment.yaml"
    threads: plan.cores_of_a_replica
    resources:
        **step_resources.of_points(plan),
    params:
        choice=lambda wildcards, input: (
            f" --flow-control {input.flow_control}" if tried else ""
        ),
        experiment=plan.path("experiment.json"),
        digest=plan.digest("simulate"),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate resamples --experiment {params.experiment} --technique {wildcards.technique}"
        " --nodes {wildcards.nodes} --classes {input.classes} --profile {input.profile}"
        " --resamples {input.resamples} --processes {threads} --output {output.table}{params.choice} > {log} 2>&1"


rule phase3_simulate_variant:
    input:
        classes=plan.path("profile/rank-classes.json"),
        profile=lambda wildcards: plan.path(
            f"nodesim/timing-profile-{'ext' if wildcards.technique.startswith('ext') else 'no-ext'}.json"
        ),
        job_profiles=plan.job_profiles(),
        preflight=ancient(plan.preflight_verdict()),
        flow_control=flow_control_studies,
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
        study="|".join(study.name for study in plan.studies),
    priority: step_resources.largest_first
    conda:
        "../environment.yaml"
    threads: plan.cores_of_a_replica
    resources:
        **step_resources.of_points(plan),
    params:
        choice=lambda wildcards, input: (
            f" --flow-control {input.flow_control}" if tried else ""
        ),
        experiment=plan.path("experiment.json"),
        digest=lambda wildcards: plan.steps.variant_digest(
            f"{wildcards.study}/{wildcards.variant}"
        ),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate run --experiment {params.experiment} --variant {wildcards.study}/{wildcards.variant:q}"
        " --technique {wildcards.technique} --nodes {wildcards.nodes} --classes {input.classes}"
        " --profile {input.profile} --processes {threads} --result {output.result:q}{params.choice} > {log:q} 2>&1"


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
    priority: step_resources.largest_first
    conda:
        "../environment.yaml"
    threads: plan.cores_of_a_replica_of(confirm_engine)
    resources:
        **step_resources.of_points(plan, confirm_engine),
    params:
        experiment=plan.path("experiment.json"),
        digest=lambda wildcards: plan.steps.confirmed_digest(
            f"confirm/{wildcards.variant}"
        ),
        code=plan.code("phase3_sst", "skeletons"),
    shell:
        "manynode simulate run --experiment {params.experiment} --variant sensitivity/{wildcards.variant:q} --confirm"
        " --technique {wildcards.technique} --nodes {wildcards.nodes} --classes {input.classes}"
        " --profile {input.profile} --processes {threads} --result {output.result:q} > {log:q} 2>&1"


# The conclusion of each study (manynode/config/studies.py).
for study in plan.studies:

    rule:
        name:
            study.rule
        input:
            plan.study_inputs(study),
        output:
            [plan.path(file.name) for file in study.files],
        log:
            plan.path(f"logs/{study.rule}.log"),
        conda:
            "../environment.yaml"
        threads: plan.study_cores(study, workflow.cores)
        params:
            experiment=plan.path("experiment.json"),
            digest=plan.digest(study.name),
            code=plan.code("phase3_sst", "skeletons"),
            command=study.command,
        shell:
            "manynode simulate {params.command} --experiment {params.experiment}"
            " --cores {threads} > {log} 2>&1"


rule phase3_analyse_points:
    input:
        results=expand(
            plan.path("simulate/{technique}/nodes-{nodes}/result.json"),
            technique=plan.experiment.techniques,
            nodes=plan.experiment.nodes,
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
