# The pipeline's table of contents; each phase's rules lie in its own folder.
from snakemake.utils import min_version

from manynode.workflow import Plan

min_version("9.17")

# The files are read again: Snakemake's reader takes 010 for 8 and 5e-3 for text.
plan = Plan(workflow.config_settings.config, workflow.overwrite_configfiles)

# The steps' `manynode` is the one of the Python that runs Snakemake, whether its environment is activated or not.
shell.prefix(plan.shell_prefix)


# The steps read the resolved experiment. It is no file of the workflow: each rule carries the digest of the sections that
# it depends on instead, so that a change repeats only what it concerns.
onstart:
    plan.write()


rule all:
    input:
        plan.path("report.html"),
        # No table is made from the pre-flight check's verdict: it is made again when it alone is lost.
        plan.preflight_verdict(),


# Compute times that the user knows already stand in place of phases 1 and 2.
if plan.has_own_times:

    include: "phase2_nodesim/own_times.smk"

else:

    include: "phase1_profile/rules.smk"
    include: "phase2_nodesim/rules.smk"


include: "phase2_nodesim/judge.smk"
include: "phase3_sst/rules.smk"
include: "manynode/report/rules.smk"
