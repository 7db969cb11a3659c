# The pipeline's table of contents; each phase's rules lie in its own folder.
from snakemake.utils import min_version

from manynode.workflow import Plan

min_version("9.0")

plan = Plan(config, workflow.overwrite_configfiles)


rule all:
    input:
        plan.path("report.html"),


include: "phase1_profile/rules.smk"
include: "phase2_nodesim/rules.smk"
include: "phase3_sst/rules.smk"
include: "manynode/report/rules.smk"
