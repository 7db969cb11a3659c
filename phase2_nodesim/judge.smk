# What a derived skeleton is worth at the node counts of the experiment.


rule phase2_judge_skeleton:
    output:
        plan.path("nodesim/skeleton-verdicts.json"),
    log:
        plan.path("logs/phase2_judge_skeleton.log"),
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("judge"),
        # The recordings that were compared since: they change the verdict, and not the skeleton.
        evidence=plan.evidence(),
        code=plan.code("phase2_nodesim/derive", "manynode/derived"),
    shell:
        "manynode nodesim judge --experiment {params.experiment} --output {output} > {log} 2>&1"
