// What "auto" chooses under each library's rules, and names that do not exist.
#include <gtest/gtest.h>

#include "chosen.hpp"
#include "collectives/plan.hpp"
#include "manynode/error_report.hpp"

namespace manynode::test {
namespace {

std::string choice_of(const std::string& rules, CallKind kind, int size, std::uint64_t bytes) {
  CollectiveChoice choice;
  choice.rules = rules;
  return collectives::algorithm_name(collectives::plan_of(choice).algorithm(kind, size, bytes));
}

struct Expectation {
  const char* rules;
  CallKind kind;
  int size;
  std::uint64_t bytes;
  const char* algorithm;
};

// The limits are those of the sources that skeletons/collectives/README.md names.
constexpr Expectation kExpectations[] = {
    {"mpich", CallKind::Barrier, 1000, 0, "dissemination"},
    {"mpich", CallKind::Bcast, 7, 1 << 20, "binomial"},
    {"mpich", CallKind::Bcast, 8, 12287, "binomial"},
    {"mpich", CallKind::Bcast, 8, 12288, "scatter_recursive_doubling"},
    {"mpich", CallKind::Bcast, 12, 12288, "scatter_allgather"},
    {"mpich", CallKind::Bcast, 8, 524288, "scatter_allgather"},
    {"mpich", CallKind::Reduce, 16, 2048, "binomial"},
    {"mpich", CallKind::Reduce, 16, 2056, "reduce_scatter_gather"},
    {"mpich", CallKind::Reduce, 1024, 4096, "binomial"},
    {"mpich", CallKind::Allreduce, 16, 2048, "recursive_doubling"},
    {"mpich", CallKind::Allreduce, 16, 2056, "reduce_scatter_allgather"},
    {"mpich", CallKind::Allreduce, 1024, 4096, "recursive_doubling"},
    {"mpich", CallKind::Allgather, 16, 32767, "recursive_doubling"},
    {"mpich", CallKind::Allgather, 16, 32768, "ring"},
    {"mpich", CallKind::Allgather, 10, 8191, "bruck"},
    {"mpich", CallKind::Allgather, 10, 8192, "ring"},
    {"mpich", CallKind::Alltoall, 7, 8, "scattered"},
    {"mpich", CallKind::Alltoall, 8, 256, "bruck"},
    {"mpich", CallKind::Alltoall, 8, 257, "scattered"},
    {"mpich", CallKind::Alltoall, 8, 32769, "pairwise"},
    {"mpich", CallKind::Alltoallv, 8, 0, "scattered"},
    {"mpich", CallKind::ReduceScatter, 8, 65535, "recursive_halving"},
    {"mpich", CallKind::ReduceScatter, 8, 65536, "pairwise"},
    {"mpich", CallKind::Scan, 8, 1 << 20, "recursive_doubling"},
    {"mpich", CallKind::Exscan, 7, 8, "recursive_doubling"},
    {"mpich", CallKind::Allgatherv, 16, 32767, "recursive_doubling"},
    {"mpich", CallKind::ReduceScatterv, 8, 65536, "pairwise"},
    {"mpich", CallKind::Alltoallw, 8, 0, "scattered"},
    {"openmpi", CallKind::Scan, 8, 1 << 20, "linear"},
    {"openmpi", CallKind::Exscan, 7, 8, "linear"},
    {"openmpi", CallKind::Alltoallw, 64, 0, "linear"},
    {"openmpi", CallKind::Gatherv, 300, 0, "linear"},
    {"openmpi", CallKind::Barrier, 100, 0, "dissemination"},
    {"openmpi", CallKind::Barrier, 256, 0, "tree"},
    {"openmpi", CallKind::Barrier, 3, 0, "recursive_doubling"},
    {"openmpi", CallKind::Barrier, 7, 0, "linear"},
    {"openmpi", CallKind::Bcast, 3, 16, "pipeline"},
    {"openmpi", CallKind::Bcast, 20, 1 << 19, "binomial_nearest"},
    {"openmpi", CallKind::Bcast, 64, 1 << 20, "knomial"},
    {"openmpi", CallKind::Bcast, 300, 20000, "split_binary"},
    {"openmpi", CallKind::Bcast, 200, 20000, "linear"},
    {"openmpi", CallKind::Bcast, 1024, 524288, "scatter_recursive_doubling"},
    {"openmpi", CallKind::Reduce, 64, 1 << 20, "in_order_binomial"},
    {"openmpi", CallKind::Reduce, 5, 4096, "pipeline"},
    {"openmpi", CallKind::Reduce, 300, 8192, "in_order_binary"},
    {"openmpi", CallKind::Reduce, 3, 4, "linear"},                  // Rabenseifner's algorithm has not enough elements
    {"openmpi", CallKind::Allreduce, 16, 8, "recursive_doubling"},  // a ring has not enough elements
    {"openmpi", CallKind::Allreduce, 4, 8192, "reduce_scatter_allgather"},
    {"openmpi", CallKind::Allreduce, 64, 8, "recursive_doubling"},
    {"openmpi", CallKind::Allreduce, 128, 8, "nonoverlapping"},
    {"openmpi", CallKind::Allreduce, 5, 8192, "reduce_scatter_allgather"},
    {"openmpi", CallKind::Allreduce, 512, 2048, "recursive_doubling"},
    {"openmpi", CallKind::Allreduce, 512, 16384, "reduce_scatter_allgather"},
    {"openmpi", CallKind::Allgather, 31, 1 << 20, "recursive_doubling"},
    {"openmpi", CallKind::Allgather, 300, 64, "bruck"},
    {"openmpi", CallKind::Allgather, 2000, 4096, "neighbor_exchange"},
    {"openmpi", CallKind::Allgather, 64, 1 << 20, "ring"},
    {"openmpi", CallKind::Allgatherv, 64, 255, "linear"},
    {"openmpi", CallKind::Allgatherv, 64, 4096, "ring"},
    {"openmpi", CallKind::Gather, 3, 1, "linear_sync"},
    {"openmpi", CallKind::Gather, 300, 4096, "linear"},
    {"openmpi", CallKind::Scatter, 64, 511, "binomial"},
    {"openmpi", CallKind::Scatter, 64, 512, "linear_nb"},
    {"openmpi", CallKind::Scatter, 3, 512, "linear"},
    {"openmpi", CallKind::Alltoall, 100, 1023, "bruck"},
    {"openmpi", CallKind::Alltoall, 100, 1024, "linear"},
    {"openmpi", CallKind::Alltoall, 100, 2048, "linear_sync"},
    {"openmpi", CallKind::Alltoall, 100, 262144, "pairwise"},
    {"openmpi", CallKind::Alltoallv, 64, 0, "pairwise"},
    {"openmpi", CallKind::ReduceScatter, 8, 4194304, "butterfly"},
    {"openmpi", CallKind::ReduceScatter, 3, 2, "recursive_doubling"},
    {"openmpi", CallKind::ReduceScatterv, 8, 32768, "ring"},
    {"openmpi", CallKind::ReduceScatterv, 64, 4, "recursive_halving"},
    {"openmpi", CallKind::ReduceScatter, 64, 65536, "at_root"},
};

TEST(CollectiveRules, AutoFollowsTheLimitsOfTheLibrary) {
  for (const Expectation& one : kExpectations) {
    EXPECT_EQ(choice_of(one.rules, one.kind, one.size, one.bytes), one.algorithm)
        << one.rules << ' ' << call_name(one.kind) << ' ' << one.size << " ranks, " << one.bytes << " bytes";
  }
}

TEST(CollectiveRules, ANameOverridesTheRulesForItsCollectiveOnly) {
  const auto& plan = collectives::plan_of(chosen("allreduce", "ring"));
  EXPECT_EQ(collectives::algorithm_name(plan.algorithm(CallKind::Allreduce, 16, 8)), "ring");
  EXPECT_EQ(collectives::algorithm_name(plan.algorithm(CallKind::Bcast, 16, 8)), "binomial");
}

TEST(CollectiveRules, AlltoallvTakesTheAlgorithmOfAlltoallWhereItCan) {
  const auto name = [](const char* algorithm) {
    const auto& plan = collectives::plan_of(chosen("alltoall", algorithm));
    return collectives::algorithm_name(plan.algorithm(CallKind::Alltoallv, 16, 0));
  };
  EXPECT_EQ(name("pairwise"), "pairwise");
  EXPECT_EQ(name("scattered"), "scattered");
  EXPECT_EQ(name("bruck"), "scattered");  // needs blocks of one size
}

TEST(CollectiveRules, CallsWithCountsTakeTheAlgorithmOfTheirCollectiveButOnlyTheRootKnowsSomeCounts) {
  const auto name = [](CallKind kind, const char* collective, const char* algorithm) {
    return collectives::algorithm_name(collectives::plan_of(chosen(collective, algorithm)).algorithm(kind, 16, 0));
  };
  EXPECT_EQ(name(CallKind::Allgatherv, "allgather", "ring"), "ring");
  EXPECT_EQ(name(CallKind::ReduceScatterv, "reduce_scatter", "at_root"), "at_root");
  EXPECT_EQ(name(CallKind::Alltoallw, "alltoall", "pairwise"), "pairwise");
  EXPECT_EQ(name(CallKind::Exscan, "scan", "linear"), "linear");
  EXPECT_EQ(name(CallKind::Gatherv, "gather", "binomial"), "linear");
  EXPECT_EQ(name(CallKind::Scatterv, "scatter", "binomial"), "linear");
}

TEST(CollectiveRules, OneChoiceIsLookedUpOnce) {
  EXPECT_EQ(&collectives::plan_of(chosen("reduce", "linear")), &collectives::plan_of(chosen("reduce", "linear")));
  EXPECT_NE(&collectives::plan_of(chosen("reduce", "linear")), &collectives::plan_of({}));
}

TEST(CollectiveRules, EveryAlgorithmBelongsToOneCollective) {
  EXPECT_EQ(collective_algorithms("reduce"),
            (std::vector<std::string>{"binary", "binomial", "chain", "in_order_binary", "in_order_binomial", "linear",
                                      "node_leader", "pipeline", "reduce_scatter_gather"}));
  EXPECT_EQ(collective_algorithms("reduce_scatter"),
            (std::vector<std::string>{"at_root", "butterfly", "pairwise", "recursive_doubling", "recursive_halving",
                                      "ring"}));
  std::size_t found = 0;
  for (const CollectiveField& field : collective_fields()) {
    found += collective_algorithms(field.collective).size();
  }
  EXPECT_EQ(found, collectives::algorithms().size());
}

void expect_refused(const CollectiveChoice& choice, const std::string& where, const std::string& found,
                    const std::string& allowed, const std::string& remedy) {
  try {
    check_collective_choice(choice);
    FAIL() << found << " was accepted";
  } catch (const UserError& error) {
    EXPECT_EQ(error.where, where);
    EXPECT_EQ(error.found, found);
    EXPECT_EQ(error.allowed, allowed);
    EXPECT_EQ(error.remedy, remedy);
  }
}

TEST(CollectiveRules, UnknownNamesAreRefusedWithTheKnownOnes) {
  expect_refused(
      chosen("allreduce", "rng"), "collectives.allreduce", "rng",
      "basic_linear, node_leader, nonoverlapping, recursive_doubling, reduce_bcast, reduce_scatter_allgather, ring, "
      "segmented_ring, auto",
      "did you mean ring?");
  // No algorithm of reduce, although the file reduce_scatter_ring begins with its name.
  expect_refused(chosen("reduce", "scatter_ring"), "collectives.reduce", "scatter_ring",
                 "binary, binomial, chain, in_order_binary, in_order_binomial, linear, node_leader, pipeline, "
                 "reduce_scatter_gather, auto",
                 "");
  CollectiveChoice rules;
  rules.rules = "openmp";
  expect_refused(rules, "collectives.rules", "openmp", "mpich, openmpi", "did you mean openmpi?");
  EXPECT_NO_THROW(check_collective_choice({}));
}

}  // namespace
}  // namespace manynode::test
