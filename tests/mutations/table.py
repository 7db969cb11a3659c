"""All mutations by name, in the order in which they run (native ones together)."""

from __future__ import annotations

import native3
import node
import phase1
import phase2
import phase3
import shared
import workflows
from mutation import Mutation

ALL: list[Mutation] = [
    *phase1.MUTATIONS,
    *phase2.MUTATIONS,
    *phase3.MUTATIONS,
    *shared.MUTATIONS,
    *workflows.MUTATIONS,
    *native3.MUTATIONS,
    *node.MUTATIONS,
]
