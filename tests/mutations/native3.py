"""Mutations of the native code of phase 3: fast engine, flow control, routes, collectives, draws of compute times."""

from __future__ import annotations

from mutation import Mutation

FAST = ("test_fast",)
TOPOLOGIES = ("test_topologies",)
SKELETONS = ("skeleton_tests",)

MUTATIONS = [
    Mutation(
        "eager-limit",
        "phase3_sst/engines/fast/protocol.cpp",
        "primitive.bytes > config_.network.host.eager_limit_bytes",
        "primitive.bytes >= config_.network.host.eager_limit_bytes",
        "off by one: a message of the limit's size is sent by rendezvous",
        ("gtest:test_fast:Timing.EagerSwitchesToRendezvousAboveTheLimit",),
        FAST,
    ),
    Mutation(
        "waiting-for-messages",
        "phase3_sst/engines/fast/protocol.cpp",
        "rank.clock = std::max(rank.clock, time) + overhead;",
        "rank.clock = std::min(rank.clock, time) + overhead;",
        "min and max exchanged: a rank does not wait for its message",
        ("gtest:test_fast:Timing.*",),
        FAST,
    ),
    Mutation(
        "delay-of-a-credit",
        "phase3_sst/engines/fast/credit_fabric.cpp",
        "time + network_.classes_[network_.links_[link].link_class].to_next",
        "time",
        "a credit returns in no time",
        ("gtest:test_fast:FlowControl.*",),
        FAST,
    ),
    Mutation(
        "least-recently-served",
        "phase3_sst/engines/fast/credit_fabric.cpp",
        "lanes_[*place].served < lanes_[*least].served",
        "lanes_[*place].served > lanes_[*least].served",
        "exchanged comparison: the input served last goes first again",
        ("gtest:test_fast:FlowControl.*",),
        FAST,
    ),
    Mutation(
        "decrease-of-a-rate",
        "phase3_sst/engines/fast/injection_control.cpp",
        "limiter.rate * (1 - limiter.alpha",
        "limiter.rate * (1 + limiter.alpha",
        "wrong sign: congestion raises the rate",
        ("gtest:test_fast:InjectionControl.*",),
        FAST,
    ),
    Mutation(
        "shorter-way-round-a-ring",
        "phase3_sst/machine/topologies/torus.cpp",
        "2 * upward < size;",
        "2 * upward > size;",
        "exchanged comparison: the longer way round",
        ("gtest:test_topologies:Torus.RoutesAreAsShortAsTheRingsAllow",),
        TOPOLOGIES,
    ),
    Mutation(
        "limit-of-an-allreduce",
        "skeletons/collectives/rules/mpich.cpp",
        "bytes <= kAllreduceShort ||",
        "bytes < kAllreduceShort ||",
        "off by one: MPICH's rule at the limit of short messages",
        ("gtest:skeleton_tests:CollectiveRules.*",),
        SKELETONS,
    ),
    Mutation(
        "draw-within-a-bin",
        "skeletons/source/timing.cpp",
        "cluster.time_s[edge - 1] + share *",
        "cluster.time_s[edge - 1] - share *",
        "wrong sign: draws fall below their bin",
        ("gtest:skeleton_tests:Timing.*",),
        SKELETONS,
    ),
    Mutation(
        "persistence-of-ranks-and-nodes",
        "skeletons/source/timing.cpp",
        "std::sqrt(timing.rank_correlation) * of_rank + std::sqrt(timing.node_correlation) * of_node",
        "std::sqrt(timing.node_correlation) * of_rank + std::sqrt(timing.rank_correlation) * of_node",
        "swapped arguments: ranks persist as nodes do and the other way round",
        ("gtest:skeleton_tests:Persistence.*",),
        SKELETONS,
    ),
]
