// One rank: its counters between marks, its clock, counts only, threads, and what ranks of a node share.
#include "rank.hpp"

#include <unistd.h>

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "node.hpp"

namespace manynode::node {
namespace {

using namespace testing;

RunFile run_of(const NodeSettings& settings, std::uint32_t ranks = 1, std::uint32_t threads = 1) {
  RunFile run;
  run.node = settings;
  run.node.slots = ranks * threads;
  run.ranks = ranks;
  run.threads = threads;
  run.last_level_of_slot.assign(run.node.slots, 0);
  run.domain_of_slot.assign(run.node.slots, 0);
  return run;
}

std::map<std::string, std::uint64_t> values_of(const mn_page& page) {
  std::map<std::string, std::uint64_t> values;
  for (std::uint32_t i = 0; i < page.count; ++i) values[page.names[i]] = page.values[i];
  return values;
}

// The thread goes once through a block with these accesses, as a front end drives it.
void go(Rank& rank, Thread& thread, const Block& block, std::initializer_list<std::uint64_t> addresses = {}) {
  rank.enter(thread, &block);
  if (thread.core == nullptr) return;
  const std::uint64_t* address = addresses.begin();
  for (std::size_t i = 0; i < block.instructions.size() && address != addresses.end(); ++i) {
    if (block.instructions[i].load) thread.core->memory.load(*address++, 8, static_cast<std::uint16_t>(i));
  }
}

class Ranks : public ::testing::Test {
 protected:
  const NodeSettings settings_ = small_node();
  mn_page page_{};
  const Block block_ =
      block_of(settings_, std::vector{load(1)} + times(7, of(Kind::kFloat, 2, {2})), 0x400000, Ending::kConditional);
};

TEST_F(Ranks, NameTheirCountersInThePage) {
  const Rank rank(run_of(settings_), 0, &page_);
  EXPECT_EQ(page_.magic, MN_PAGE_MAGIC);
  EXPECT_EQ(page_.version, static_cast<std::uint32_t>(MN_PAGE_VERSION));
  EXPECT_LE(page_.count, static_cast<std::uint32_t>(MN_PAGE_COUNTERS));
  EXPECT_EQ(values_of(page_).size(), page_.count) << "all names differ";
  for (const char* name : {"ticks", "instructions", "loads", "stores", "branches", "branch_misses", "l1i_misses",
                           "l1d_misses", "l2_misses", "last_level_misses", "tlb_misses", "page_walks", "prefetches",
                           "recalls", "memory_lines", "ticks_dependence", "ticks_base", "ticks_threads"}) {
    EXPECT_EQ(values_of(page_).count(name), 1u) << name;
  }
}

TEST_F(Ranks, CountBetweenStartAndStop) {
  Rank rank(run_of(settings_), 0, &page_);
  for (int phase = 0; phase < 2; ++phase) {
    rank.start();
    for (std::uint64_t i = 0; i < 10; ++i) go(rank, rank.main_thread(), block_, {0x10000 + i * 8});
    rank.enter(rank.main_thread(), nullptr);
    rank.stop(false);
    const auto values = values_of(page_);
    EXPECT_EQ(values.at("instructions"), 80u);
    EXPECT_EQ(values.at("loads"), 10u);
    EXPECT_EQ(values.at("stores"), 0u);
    EXPECT_EQ(values.at("branches"), 10u);
    EXPECT_EQ(values.at("l1d_misses"), phase == 0 ? 2u : 0u) << "80 bytes; the second time they are there";
  }
}

TEST_F(Ranks, CausesAddUpToTheTicksOfThePhase) {
  Rank rank(run_of(settings_), 0, &page_);
  for (std::uint64_t phase = 0; phase < 3; ++phase) {
    rank.start();
    for (std::uint64_t i = 0; i < 100; ++i) go(rank, rank.main_thread(), block_, {(phase * 100 + i) * kPage});
    rank.stop(false);
    std::uint64_t sum = 0;
    for (const auto& [name, value] : values_of(page_)) sum += name.starts_with("ticks_") ? value : 0;
    EXPECT_EQ(sum, values_of(page_).at("ticks"));
    EXPECT_GT(sum, 0u);
  }
}

TEST_F(Ranks, DrainTheLastResultsAtStop) {
  Rank rank(run_of(settings_), 0, &page_);
  std::uint64_t ticks = 0;
  for (int phase = 0; phase < 2; ++phase) {  // the first one fetches the code
    rank.start();
    go(rank, rank.main_thread(), block_, {0x10000});
    rank.run(rank.main_thread(), block_.pieces.size());
    rank.stop(false);
    ticks = values_of(page_).at("ticks");
  }
  // In ticks of a quarter of a cycle: the load is dispatched, then seven floats of 4 cycles follow each other.
  EXPECT_EQ(ticks, 1 + 7 * 4 * 4u);
}

TEST_F(Ranks, DoNothingAtStopWithoutAStart) {
  Rank rank(run_of(settings_), 0, &page_);
  rank.stop(false);
  EXPECT_EQ(values_of(page_).at("ticks"), 0u);
  EXPECT_EQ(nlohmann::json::parse(rank.report(0)).at("phases"), 0);
}

TEST_F(Ranks, MayOnlyCount) {
  RunFile run;
  run.counts_only = true;
  run.ranks = 4;
  run.first_rank = 4;
  Rank rank(run, 6, &page_);
  EXPECT_EQ(rank.main_thread().core, nullptr);
  for (int phase = 0; phase < 2; ++phase) {
    rank.start();
    for (int i = 0; i < 10; ++i) go(rank, rank.main_thread(), block_);
    rank.enter(rank.main_thread(), nullptr);
    rank.stop(true);
    const auto values = values_of(page_);
    EXPECT_EQ(values.at("instructions"), 80u);
    EXPECT_EQ(values.at("loads"), 10u);
    EXPECT_EQ(values.at("stores"), 0u);
    EXPECT_EQ(values.at("branches"), 10u);
  }
  rank.leave();
}

TEST_F(Ranks, OfAnotherNodeAreErrors) {
  RunFile run = run_of(settings_, 2);
  run.first_rank = 4;
  EXPECT_THROW(Rank(run, 3, &page_), std::runtime_error);
  EXPECT_THROW(Rank(run, 6, &page_), std::runtime_error);
}

TEST_F(Ranks, HaveAsManyThreadsAsTheRunSays) {
  Rank rank(run_of(settings_, 1, 3), 0, &page_);
  rank.start();
  Thread* second = rank.add_thread();
  Thread* third = rank.add_thread();
  ASSERT_NE(second, nullptr);
  ASSERT_NE(third, nullptr);
  EXPECT_NE(second->slot, third->slot);
  EXPECT_EQ(rank.add_thread(), nullptr);
  go(rank, *second, block_, {0x10000});
  rank.enter(*second, nullptr);
  rank.thread_ends(*second);
  rank.stop(false);
  EXPECT_EQ(values_of(page_).at("instructions"), 8u) << "the work of all threads";
  const auto report = nlohmann::json::parse(rank.report(0));
  EXPECT_EQ(report.at("threads"), 3);
  EXPECT_EQ(report.at("threads_too_many"), 1);
}

TEST_F(Ranks, AThreadThatHasEndedLeavesItsCoreToTheNextOne) {
  Rank rank(run_of(settings_, 1, 2), 0, &page_);
  rank.start();
  for (int i = 0; i < 3; ++i) {
    Thread* worker = rank.add_thread();
    ASSERT_NE(worker, nullptr);
    EXPECT_EQ(rank.add_thread(), nullptr) << "two at a time are too many";
    go(rank, *worker, block_, {0x10000});
    rank.enter(*worker, nullptr);
    rank.thread_ends(*worker);
  }
  rank.stop(false);
  EXPECT_EQ(values_of(page_).at("instructions"), 3 * 8u);
  const auto report = nlohmann::json::parse(rank.report(7));
  EXPECT_EQ(report.at("threads"), 2);
  EXPECT_EQ(report.at("unknown_instructions"), 7);
}

TEST_F(Ranks, AThreadThatWakesAnotherOneGoesOnAtOnce) {
  Rank rank(run_of(settings_, 1, 2), 0, &page_);
  rank.start();
  Thread* worker = rank.add_thread();
  ASSERT_NE(worker, nullptr);
  for (std::uint64_t i = 0; i < 100; ++i) go(rank, *worker, block_, {0x10000 + i * kPage});
  rank.enter(*worker, nullptr);
  rank.thread_blocks(*worker);
  const Stamp before = rank.main_thread().core->now();
  rank.thread_wakes(rank.main_thread());
  rank.thread_goes_on(rank.main_thread());
  EXPECT_EQ(rank.main_thread().core->now(), before);
  EXPECT_LT(before, worker->core->now());
  rank.stop(false);
}

TEST_F(Ranks, HoldNobodyAfterTheyHaveLeftEvenIfTheyWaitOn) {
  RunFile run = run_of(settings_, 2);
  run.shared_memory = ::testing::TempDir() + "node-left." + std::to_string(::getpid());
  mn_page pages[2]{};
  std::unique_ptr<Rank> ranks[2];
  std::thread other([&] { ranks[1] = std::make_unique<Rank>(run, 1, &pages[1]); });
  ranks[0] = std::make_unique<Rank>(run, 0, &pages[0]);
  other.join();
  ranks[1]->leave();
  ranks[1]->look();
  ranks[1]->looked_in_vain();
  ranks[0]->start();
  for (std::uint64_t i = 0; i < 1000; ++i) go(*ranks[0], ranks[0]->main_thread(), block_, {i * kPage});
  ranks[0]->stop(false);
  EXPECT_EQ(nlohmann::json::parse(ranks[0]->report(0)).at("clocks").at("waits"), 0);
}

TEST_F(Ranks, AThreadGoesOnWhenAnotherOneHasBlockedAndChargesTheTimeToThreads) {
  Rank rank(run_of(settings_, 1, 2), 0, &page_);
  rank.start();
  Thread* worker = rank.add_thread();
  ASSERT_NE(worker, nullptr);
  rank.thread_blocks(rank.main_thread());  // it waits for the worker
  for (std::uint64_t i = 0; i < 100; ++i) go(rank, *worker, block_, {0x10000 + i * kPage});
  rank.enter(*worker, nullptr);
  rank.thread_blocks(*worker);
  rank.thread_goes_on(rank.main_thread());
  EXPECT_EQ(rank.main_thread().core->now(), worker->core->now());
  rank.stop(false);
  EXPECT_EQ(values_of(page_).at("ticks_threads"), values_of(page_).at("ticks"));
}

TEST_F(Ranks, MayGetThreadsWhileTheirPhasesEnd) {
  RunFile run;
  run.counts_only = true;
  run.threads = 500;
  Rank rank(run, 0, &page_);
  std::atomic<std::uint32_t> phases{0};
  std::atomic<bool> done{false};
  std::thread adding([&] {
    for (std::uint32_t i = 1; i < run.threads; ++i) {
      // Not all at once: a phase ends for every five of them.
      while (phases < i / 5) std::this_thread::yield();
      rank.add_thread();
    }
    done = true;
  });
  while (!done) {
    rank.start();
    rank.stop(false);
    ++phases;
  }
  adding.join();
  EXPECT_EQ(nlohmann::json::parse(rank.report(0)).at("threads"), run.threads);
}

// Two ranks of a node, whose accesses alternate; returns the last-level misses of a second pass of the first rank.
std::uint64_t misses_beside_another(const NodeSettings& settings, bool shares) {
  RunFile run = run_of(settings, 2);
  run.shares = shares;
  run.shared_memory = ::testing::TempDir() + "node-shared." + std::to_string(::getpid());
  mn_page pages[2]{};
  std::unique_ptr<Rank> ranks[2];
  std::thread other([&] { ranks[1] = std::make_unique<Rank>(run, 1, &pages[1]); });
  ranks[0] = std::make_unique<Rank>(run, 0, &pages[0]);
  other.join();
  EXPECT_NE(::access(run.shared_memory.c_str(), F_OK), 0) << "nothing is left behind";
  ranks[1]->start();  // else it is about to, and the other one waits for it
  ranks[1]->stop(true);
  const Block block = block_of(settings, {load(1)});
  const auto pass = [&](int rank) {
    ranks[rank]->start();
    for (std::uint64_t line = 0; line < kLastLevelLines * 5 / 8; ++line) {
      go(*ranks[rank], ranks[rank]->main_thread(), block, {0x100000 + line * kLine});
    }
    ranks[rank]->enter(ranks[rank]->main_thread(), nullptr);
    ranks[rank]->stop(true);
    return values_of(pages[rank]).at("last_level_misses");
  };
  pass(0);
  pass(0);
  pass(1);
  pass(1);
  const std::uint64_t misses = pass(0);
  for (const auto& rank : ranks) rank->leave();
  return misses;
}

TEST_F(Ranks, ShareTheLastLevelOfTheirNode) { EXPECT_GT(misses_beside_another(settings_, true), kLastLevelLines / 4); }

TEST_F(Ranks, HaveALastLevelForThemselvesWithoutSharing) {
  EXPECT_LT(misses_beside_another(settings_, false), kLastLevelLines / 20);
}

TEST_F(Ranks, ReportWhatTheRunWasLike) {
  RunFile run = run_of(settings_, 4);
  run.first_rank = 4;
  Rank rank(run, 5, &page_);
  rank.start();
  rank.stop(false);
  rank.inject(0x10000, 256, true);
  rank.inject(0x10000, 0, true);
  rank.leave();
  rank.leave();
  const auto report = nlohmann::json::parse(rank.report(0));
  EXPECT_EQ(report.at("schema"), "node-report/1");
  EXPECT_EQ(report.at("rank"), 5);
  EXPECT_EQ(report.at("phases"), 1);
  EXPECT_EQ(report.at("injected_bytes"), 256);
  EXPECT_EQ(report.at("clocks").at("released_by_time_out"), 0);
  EXPECT_EQ(report.at("lost_recalls"), 0);
  EXPECT_EQ(report.at("broken_locks"), 0);
}

}  // namespace
}  // namespace manynode::node
