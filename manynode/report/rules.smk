# The report: one offline HTML file from whatever the phases left.
from pathlib import Path

from manynode.known_errors.records import shipped


rule report_build_page:
    input:
        profiles=expand(
            plan.path("nodesim/timing-profile-{mode}.json"), mode=plan.modes
        ),
        control=lambda wildcards: (
            plan.control_segments(
                checkpoints.phase1_classify_ranks.get().output.classes
            )
            if plan.has_control
            else []
        ),
        draws=plan.draw_comparisons(),
        projection=[plan.path("projection.parquet")] if plan.has_skeleton else [],
        studies=plan.study_files(),
        verdicts=plan.skeleton_verdicts(),
        flow_control=flow_control_files,
        records=plan.experiment.known_errors,
    output:
        report(plan.path("report.html"), category="manynode"),
    log:
        plan.path("logs/report_build_page.log"),
    conda:
        "../../environment.yaml"
    params:
        directory=lambda wildcards, output: Path(output[0]).parent,
        digest=plan.digest("report"),
        # Shipped records are part of the answer, too.
        records=[plan.code(f"validation/{path.name}") for path in shipped()],
        code=plan.code("manynode/report", "manynode/known_errors"),
    shell:
        "manynode report {params.directory} --output {output} > {log} 2>&1"
