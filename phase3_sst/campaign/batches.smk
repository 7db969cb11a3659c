# The points of a study, a batch a step; the study's command writes the batches and starts this.
import shlex
import sysconfig

from snakemake.utils import min_version

min_version("9.0")


# The steps' `manynode` is the one of the Python that runs Snakemake, whether its environment is activated or not.
shell.prefix(
    f"set -euo pipefail; export PATH={shlex.quote(sysconfig.get_path('scripts'))}:$PATH; "
)


rule all:
    input:
        [f"campaign/batch-{number}.done" for number in range(config.get("batches", 0))],


rule campaign_simulate_batch:
    input:
        "campaign/batch-{number}.json",
    output:
        touch("campaign/batch-{number}.done"),
    log:
        "logs/campaign_simulate_batch/{number}.log",
    conda:
        "../../environment.yaml"
    threads: config.get("threads", 1)
    resources:
        mem_mb=config.get("mem_mb", 1000),
        runtime=config.get("runtime", 60),
    params:
        processes=config.get("processes", 1),
    shell:
        "manynode simulate situations --batch {input} --output . --processes {params.processes}"
        " > {log} 2>&1"
