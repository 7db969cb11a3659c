"""Mutations that whole runs catch: their tests are workflow tests, which were made faster."""

from __future__ import annotations

from mutation import Mutation

MUTATIONS: list[Mutation] = []
