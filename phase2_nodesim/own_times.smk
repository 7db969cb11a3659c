# The user's own compute times -> timing profile, in place of phases 1 and 2.


rule phase2_own_classes:
    output:
        classes=plan.path("profile/rank-classes.json"),
    log:
        plan.path("logs/phase2_own_classes.log"),
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("classify"),
        code=plan.code("phase2_nodesim/own_times.py"),
    shell:
        "manynode nodesim own-times --experiment {params.experiment} --classes {output.classes} > {log} 2>&1"


rule phase2_own_profile:
    output:
        profile=plan.path("nodesim/timing-profile-{mode}.json"),
    log:
        plan.path("logs/phase2_own_profile/{mode}.log"),
    wildcard_constraints:
        mode="ext|no-ext",
    conda:
        "../environment.yaml"
    params:
        experiment=plan.path("experiment.json"),
        digest=plan.digest("fit"),
        code=plan.code("phase2_nodesim/own_times.py"),
    shell:
        "manynode nodesim own-times --experiment {params.experiment} --mode {wildcards.mode}"
        " --profile {output.profile} > {log} 2>&1"
