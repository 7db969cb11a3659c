"""What the Snakemake rules ask of the configuration: paths, digests, the command of a step.

A rule carries as parameters the digest of the sections it depends on and the digest of the code it runs, so that
Snakemake repeats exactly the steps that a change concerns.
"""

from __future__ import annotations

import math
import shlex
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manynode.config.counterfactuals import loss_nodes, loss_techniques
from manynode.config.loader import RESOLVED_SCHEMA, Resolved, resolve, resolve_json
from manynode.config.studies import STUDIES, study_points, study_variants
from manynode.config.variants import confirmed, study_nodes, study_techniques, with_confirming_engine
from manynode.errors import ManynodeError, UsageError
from manynode.provenance import code_digest
from manynode.tables import read_json, write_json

_SHARED = ("application", "ranks_per_node", "seed")
# The sections whose change makes a step's results stale.
SECTIONS = {
    "profile": (*_SHARED, "profile"),
    "classify": (*_SHARED, "profile", "nodesim"),
    "nodesim": (*_SHARED, "machine", "nodesim"),
    "fit": (*_SHARED, "machine", "nodesim"),
    "simulate": (*_SHARED, "network", "simulate"),
    "analyse": (*_SHARED, "nodes", "techniques", "simulate"),
    "preflight": (*_SHARED, "nodes", "network", "simulate"),
    "sensitivity": (*_SHARED, "nodes", "techniques", "network", "simulate", "sensitivity"),
    "scaling": (*_SHARED, "nodes", "techniques", "network", "simulate", "scaling"),
    "validation": ("seed", "nodes", "techniques", "machine", "network", "simulate", "validation"),
    "collectives": ("seed", "network", "simulate", "validation"),
    "report": (),
}
# Keys of those sections that a step does not read.
_JUDGES = ("simulate.preflight", "simulate.time_limit")
# How SST is watched and started changes no result; how it is divided does not either, but that is only measured.
_WATCH_OF_SST = tuple(f"simulate.sst.{key}" for key in ("hang_limit", "memory", "launcher"))
_OF_THE_NETWORK = ("engine", "preflight", "sst")
_DRAWS = ("replicas", "confidence", "time_limit", "persistent", "tail", "profile_bootstrap")
UNREAD: dict[str, tuple[str, ...]] = {
    "profile": ("profile.noise_floor", "profile.max_classes", "profile.coverage"),
    # The fit's, not the simulated node's.
    "classify": ("nodesim.tail",),
    "nodesim": ("nodesim.tail",),
    "simulate": (*_JUDGES, "simulate.confidence", "simulate.profile_bootstrap"),
    "analyse": _JUDGES,
    "sensitivity": (*_JUDGES, "simulate.profile_bootstrap"),
    "scaling": (*_JUDGES, "simulate.profile_bootstrap"),
    "validation": (*_JUDGES, "validation.collectives", "validation.iterations"),
    "collectives": (
        *_JUDGES,
        *(
            "validation.measured",
            "validation.machine",
            "validation.network",
            "simulate.replicas",
            "simulate.confidence",
        ),
    ),
    "preflight": tuple(f"simulate.{key}" for key in _DRAWS),
}


class Plan:
    """A checked experiment as the rules see it."""

    def __init__(self, config: Mapping[str, Any], configfiles: list[Any]) -> None:
        """Check ``config``; ``configfiles`` are the files that Snakemake read it from."""
        where = str(configfiles[-1]) if configfiles else "the experiment"
        if not config:
            # Snakemake parses the workflow for --lint and --help without a configuration as well.
            raise SystemExit(
                _say(
                    UsageError(
                        "no experiment was given", where="snakemake", remedy="add --configfile configs/demo.yaml"
                    )
                )
            )
        try:
            base = Path(str(configfiles[-1])).resolve().parent if configfiles else Path.cwd()
            self.resolved: Resolved = resolve(config, where=where, base=base)
        except ManynodeError as error:
            raise SystemExit(_say(error)) from None
        self.model = self.resolved.model
        self.root = f"results/{self.model.name}"
        self.shell_prefix = f"set -euo pipefail; export PATH={shlex.quote(sysconfig.get_path('scripts'))}:$PATH; "
        self.has_skeleton = self.model.application.name is not None
        content = self.resolved.content
        self._variants = {
            name: variant for found in study_variants(content).values() for name, variant in found.items()
        }
        # Asked for by several rules, and a sample of Sobol's plan takes its time.
        self._study_points = {study: study_points(content, study) for study in STUDIES}
        self._variant_digests: dict[str, str] = {}
        self.modes = sorted({"ext" if name.startswith("ext") else "no-ext" for name in self.model.techniques})

    def path(self, *parts: str) -> str:
        """Return a path below the experiment's results."""
        return "/".join([self.root, *parts])

    def digest(self, step: str) -> str:
        """Return the digest of the sections that ``step`` depends on."""
        sections, unread = SECTIONS[step], (*UNREAD.get(step, ()), *self._unread_of_sst(), *self._unread_of_gem5())
        if step == "preflight" and not self.model.simulate.preflight.vary:
            # The probes of the network itself look at nothing else; points would be repeated with them.
            sections = ("network", "simulate")
            unread = tuple(f"simulate.{key}" for key in self.resolved.content["simulate"] if key not in _OF_THE_NETWORK)
            unread = (*unread, *self._unread_of_sst())
        return self.resolved.digest(*sections, without=unread)

    def code(self, *folders: str) -> str:
        """Return the digest of the code in ``folders``."""
        return code_digest(*folders)

    def processes(self, nodes: int, cores: int | None) -> int:
        """Return how many cores a point has, for replicas side by side: the share of the cores that it has of the work.

        So that the large points do not go on alone when all others have ended, and the small ones start one process.
        """
        share = nodes / (len(self.model.techniques) * sum(self.model.nodes))
        each = self.cores_of_a_replica
        beside = max(1, math.ceil((cores or 1) * share) // each)
        return each * min(self.model.simulate.replicas, beside)

    @property
    def cores_of_a_replica(self) -> int:
        """Return the number of cores that the simulation of one replica keeps busy."""
        simulate = self.model.simulate
        return simulate.sst.cores() if simulate.engine == "sst" else 1

    def _unread_of_sst(self) -> tuple[str, ...]:
        """Return the keys of the section ``simulate.sst`` that change no result."""
        return _WATCH_OF_SST if self.model.simulate.engine == "sst" else ("simulate.sst",)

    def _unread_of_gem5(self) -> tuple[str, ...]:
        """Return the keys of the section ``nodesim.gem5`` that change no result."""
        return ("nodesim.gem5.progress",) if self.model.nodesim.engine == "gem5" else ("nodesim.gem5",)

    def variant_digest(self, name: str) -> str:
        """Return the digest of what a variant's simulation depends on."""
        if name not in self._variant_digests:
            content = self._variants[name].content(self.resolved.content)
            changed = resolve_json(content, f"the variant {name}")
            unread = (*UNREAD["simulate"], *self._unread_of_sst())
            self._variant_digests[name] = changed.digest(*SECTIONS["simulate"], without=unread)
        return self._variant_digests[name]

    def confirmed_digest(self, name: str) -> str:
        """Return the digest of what the second simulation of a variant depends on, with another engine."""
        content = with_confirming_engine(self._variants[name].content(self.resolved.content))
        watch = _WATCH_OF_SST if content["simulate"]["engine"] == "sst" else ("simulate.sst",)
        changed = resolve_json(content, f"the variant {name}")
        return changed.digest(*SECTIONS["simulate"], without=(*UNREAD["simulate"], *watch))

    def confirmed_results(self) -> list[str]:
        """Return the results of the points that are simulated again with another engine."""
        return [
            self.path(f"confirm/{variant.name}/{technique}/nodes-{nodes}/result.json")
            for variant in confirmed(self.resolved.content)
            for technique in study_techniques(self.resolved.content)
            for nodes in study_nodes(self.resolved.content)
        ]

    def study_results(self, study: str) -> list[str]:
        """Return the results of all points that a study adds; none when the experiment does not have it."""
        return [self.path(point.folder, "result.json") for point in self._study_points[study]]

    def loss_points(self) -> list[tuple[str, int]]:
        """Return technique and nodes of the experiment's own points that the scaling study takes apart."""
        content = self.resolved.content
        if not content["scaling"]:
            return []
        return [(technique, nodes) for technique in loss_techniques(content) for nodes in loss_nodes(content)]

    def study_tables(self) -> list[str]:
        """Return the tables of the studies that the experiment has."""
        return [self.path(f"{study}.parquet") for study in STUDIES if self.study_results(study)]

    def validation_results(self) -> list[str]:
        """Return the tables of the validation study."""
        study = self.model.validation
        if study is None:
            return []
        names = (("validation.parquet", study.measured), ("validation_collectives.parquet", study.collectives))
        return [self.path(name) for name, rows in names if rows]

    def resampled_results(self) -> list[str]:
        """Return the tables of all points with resampled timing profiles; none where no resamples are asked for."""
        if not self.model.simulate.profile_bootstrap:
            return []
        return [
            self.path(f"resamples/{technique}/nodes-{nodes}.parquet")
            for technique in self.model.techniques
            for nodes in self.model.nodes
        ]

    def job_profiles(self) -> list[str]:
        """Return the timing profiles of the further jobs."""
        jobs = self.resolved.content["simulate"]["jobs"]
        return [job["timing_profile"] for job in jobs if job["timing_profile"]]

    def write(self) -> None:
        """Write the resolved experiment, which the steps read."""
        digests = {"digest": self.resolved.digest(), "projection_digest": self.resolved.projection_digest()}
        content = {**digests, "experiment": self.resolved.content}
        write_json(Path(self.path("experiment.json")), RESOLVED_SCHEMA, content)

    def representative_nodes(self, path: str) -> list[int]:
        """Return the nodes that phase 1 chose, from its rank-classes file."""
        return [int(node) for node in read_json(Path(path), "rank-classes/1")["representative_nodes"]]


def _say(error: ManynodeError) -> int:
    print(f"manynode: {error.render()}", file=sys.stderr)
    return error.exit_code
