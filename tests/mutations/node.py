"""Mutations of the node model of the engine qemu: pieces' maps, core, memory, predictors, clocks, decoder."""

from __future__ import annotations

from mutation import Mutation

NODE = ("test_node",)
MODEL = "phase2_nodesim/qemu/model/"

MUTATIONS = [
    Mutation(
        "address-from-a-late-load",
        MODEL + "core.cpp",
        "      known |= bit;\n",
        "",
        "a load whose address comes from a late load starts as if that load had hit",
        ("gtest:test_node:PieceMaps.*",),
        NODE,
    ),
    Mutation(
        "slack-of-an-input",
        MODEL + "block.cpp",
        "get(piece_.row, i) - std::int64_t{below(times[sink])}",
        "get(piece_.row, i) - std::int64_t{below(times[sink])} + 16",
        "off by one tick: an input that is a little late delays nothing",
        ("gtest:test_node:PieceMaps.*",),
        NODE,
    ),
    Mutation(
        "stamp-without-charge",
        MODEL + "core.cpp",
        "  charge(Cause::kBranch, frontend_);\n",
        "",
        "the front end's time after a misprediction is in no part of the CPI stack",
        ("gtest:test_node:CoreLimits.*",),
        NODE,
    ),
    Mutation(
        "forwarding-latency",
        MODEL + "memory_path.cpp",
        "stored.ready + (vector ? vector_forward_latency_ : forward_latency_)",
        "stored.ready",
        "a load takes data from the store queue in no time",
        ("gtest:test_node:CoreLimits.*",),
        NODE,
    ),
    Mutation(
        "access-across-two-lines",
        MODEL + "memory_path.cpp",
        "if (last >> line_bits_ != address >> line_bits_) {",
        "if (last >> page_bits_ != address >> page_bits_) {",
        "only the first of two lines is touched, but at the end of a page",
        ("gtest:test_node:MemoryPath.*",),
        NODE,
    ),
    Mutation(
        "prefetch-into-the-next-page",
        MODEL + "prefetcher.hpp",
        "if ((line & in_page_) == in_page_) return 0;",
        "",
        "the next line of the last one is in a page that may be anywhere",
        ("gtest:test_node:Prefetchers.*",),
        NODE,
    ),
    Mutation(
        "look-before-an-event",
        MODEL + "clocks.cpp",
        "if (candidate.acknowledged.load() == event) continue;",
        "continue;",
        "a rank whose message has just been sent no longer holds the others",
        ("gtest:test_node:Clocks.*",),
        NODE,
    ),
    Mutation(
        "vector-stores",
        "phase2_nodesim/qemu/decoder/classes.cpp",
        "  what.first = InstructionClass::First::kWritten;\n",
        "",
        "stores of vectors count as loads, as Capstone 4 says",
        ("gtest:test_node:Decoder.*",),
        NODE,
    ),
]
