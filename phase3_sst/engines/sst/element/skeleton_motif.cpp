#include <sst_config.h>
//
#include <emberengine.h>
#include <sst/core/output.h>
#include <sst/core/unitAlgebra.h>

#include <cstddef>
#include <new>

#include "failure.hpp"
#include "message_tags.hpp"
#include "skeleton_motif.hpp"

namespace manynode::sst_element {

namespace {

namespace MP = SST::Hermes::MP;

// No byte of a message is ever read or written.
const SST::Hermes::MemAddr kNoData;

Settings settings_of(SST::Params& parameters, std::uint32_t process, std::uint32_t processes) {
  Settings settings;
  settings.run = parameters.find<std::string>("arg.run");
  settings.output = parameters.find<std::string>("arg.output");
  settings.process = process;
  settings.processes = processes;
  const auto collectives = parameters.find<std::string>("arg.collectives", "expanded");
  if (collectives != "expanded" && collectives != "sst") {
    throw UserError("the motif has no such way of collectives", "motif argument collectives", collectives,
                    "expanded, sst", "choose one of these");
  }
  settings.own_collectives = collectives == "sst";
  for (const auto& [name, value] : {std::pair("run", settings.run), std::pair("output", settings.output)}) {
    if (value.empty()) {
      throw UserError("the motif lacks an argument", std::string("motif argument ") + name, "", "a path", "give it");
    }
  }
  return settings;
}

// An engine with nothing but a silent output. When SST destroys a simulation, it deletes an engine before its
// unfinished motif. Ember's destructor of the motif then writes into the output of the deleted engine, which corrupts
// the heap. (Seen in the development version of 2026; ember's own motifs are affected too.)
SST::Ember::EmberEngine* silent_engine() {
  using SST::Ember::EmberEngine;
  alignas(EmberEngine) static std::byte storage[sizeof(EmberEngine)];
  auto* engine = reinterpret_cast<EmberEngine*>(storage);
  [[maybe_unused]] static const auto* output = new (engine->getOutput()) SST::Output;
  return engine;
}

}  // namespace

SkeletonMotif::SkeletonMotif(SST::ComponentId_t id, SST::Params& parameters)
    : EmberMessagePassingGenerator(id, parameters, "Skeleton") {
  try {
    world_ = World::of_process(settings_of(parameters, getRank().rank, getNumRanks().rank));
    job_ = parameters.find<std::size_t>("arg.job", 0);
    if (job_ >= world_->jobs()) {
      throw UserError("the run has no such job", "motif argument job", std::to_string(job_),
                      "less than " + std::to_string(world_->jobs()), "choose a job of the run file");
    }
    background_ = world_->job(job_).config->background;
    cycle_ = (getCoreTimeBase() / SST::UnitAlgebra("1ps")).getRoundedValue();
    world_->join();
  } catch (const std::exception& error) {
    fail(error);
  }
}

SkeletonMotif::~SkeletonMotif() {
  try {
    if (state_ == State::Finished) {
      world_->rank_finished();
    } else {
      // The simulation has ended before the rank; it destroys its components when all threads have stopped.
      setEngine(silent_engine());
      world_->write_parts();
    }
  } catch (const std::exception& error) {
    fail(error);
  }
}

bool SkeletonMotif::generate(Queue& queue) {
  try {
    queue_ = &queue;
    if (state_ == State::Created) {
      state_ = State::Initialised;
      mpi().init(queue);
      mpi().rank(queue, MP::GroupWorld, &ember_rank_);
      mpi().size(queue, MP::GroupWorld, &ember_size_);
      return false;
    }
    if (state_ == State::Initialised) {
      state_ = State::Running;
      if (begin()) return false;
    }
    groups_.clear();
    if (program_->advance(now(), *this)) return false;
    state_ = State::Finished;
    return true;
  } catch (const std::exception& error) {
    fail(error);
  }
}

bool SkeletonMotif::begin() {
  const network::JobConfig& config = *world_->job(job_).config;
  if (ember_size_ != static_cast<int>(config.ranks())) {
    throw UserError("the machine has other ranks than the job", "job " + config.name, std::to_string(ember_size_),
                    std::to_string(config.ranks()), "give the job as many endpoints as it has ranks");
  }
  setRank(static_cast<int>(ember_rank_));
  setSize(ember_size_);
  program_ = &world_->add(job_, static_cast<int>(rank_of_ember(config, ember_rank_)));
  const network::Picoseconds start = network::to_picoseconds(config.start_s);
  const network::Picoseconds wait_ns = start > now() ? (start - now() + 999) / 1000 : 0;
  program_->begin(now() + wait_ns * 1000);
  if (wait_ns > 0) delay(static_cast<std::uint64_t>(wait_ns));
  return wait_ns > 0;
}

network::Picoseconds SkeletonMotif::now() const {
  const network::TimeSum time = static_cast<network::TimeSum>(getCurrentSimCycle()) * cycle_;
  if (time > network::kEndOfTime) network::end_of_time();
  return static_cast<network::Picoseconds>(time);
}

void SkeletonMotif::compute(std::uint32_t phase) {
  enQ_compute(*queue_, [program = program_, phase] {
    try {
      return program->draw(phase);
    } catch (const std::exception& error) {
      fail(error);
    }
  });
}

void SkeletonMotif::delay(std::uint64_t nanoseconds) { enQ_compute(*queue_, nanoseconds); }

void SkeletonMotif::send(std::uint32_t destination, std::uint32_t tag, std::uint32_t bytes) {
  mpi().send(*queue_, kNoData, bytes, MP::CHAR, destination, tag, MP::GroupWorld);
}

void SkeletonMotif::recv(std::uint32_t source, std::uint32_t tag, std::uint32_t bytes) {
  // firefly's blocking receive does not charge a message that has come before it; a wait always does.
  irecv(source, tag, bytes, &received_);
  wait(&received_);
}

void SkeletonMotif::isend(std::uint32_t destination, std::uint32_t tag, std::uint32_t bytes, RequestHandle* request) {
  mpi().isend(*queue_, kNoData, bytes, MP::CHAR, destination, tag, MP::GroupWorld, request);
}

void SkeletonMotif::irecv(std::uint32_t source, std::uint32_t tag, std::uint32_t bytes, RequestHandle* request) {
  mpi().irecv(*queue_, kNoData, bytes, MP::CHAR, source, tag, MP::GroupWorld, request);
}

void SkeletonMotif::wait(RequestHandle* request) { mpi().wait(*queue_, request); }

void SkeletonMotif::test(RequestHandle* request, int* flag) { mpi().test(*queue_, request, flag); }

void SkeletonMotif::waitall(RequestHandle* requests, std::uint32_t count) {
  mpi().waitall(*queue_, static_cast<int>(count), requests);
}

void SkeletonMotif::waitany(RequestHandle* requests, std::uint32_t count, int* index) {
  mpi().waitany(*queue_, static_cast<int>(count), requests, index, &response_);
}

void SkeletonMotif::make_group(std::vector<int> ember_ranks, std::uint32_t* group) {
  mpi().commCreate(*queue_, MP::GroupWorld, groups_.emplace_back(std::move(ember_ranks)), group);
}

void SkeletonMotif::collective(CallKind kind, std::uint32_t group, int root, std::uint32_t bytes) {
  const auto count = static_cast<int>(bytes);
  switch (kind) {
    case CallKind::Barrier:
      return mpi().barrier(*queue_, group);
    case CallKind::Bcast:
      return mpi().bcast(*queue_, kNoData, bytes, MP::CHAR, root, group);
    case CallKind::Reduce:
      return mpi().reduce(*queue_, kNoData, kNoData, bytes, MP::CHAR, MP::NOP, root, group);
    case CallKind::Allreduce:
      return mpi().allreduce(*queue_, kNoData, kNoData, bytes, MP::CHAR, MP::NOP, group);
    case CallKind::Allgather:
      return mpi().allgather(*queue_, kNoData, count, MP::CHAR, kNoData, count, MP::CHAR, group);
    case CallKind::Scatter:
      return mpi().scatter(*queue_, kNoData, bytes, MP::CHAR, kNoData, bytes, MP::CHAR, root, group);
    case CallKind::Alltoall:
      return mpi().alltoall(*queue_, kNoData, count, MP::CHAR, kNoData, count, MP::CHAR, group);
    default:
      throw std::logic_error("not a collective of SST: " + std::string(call_name(kind)));
  }
}

void SkeletonMotif::alltoallv(std::uint32_t group, int* sent, int* received) {
  // Positions in the buffers do not matter, because there are no buffers.
  mpi().alltoallv(*queue_, kNoData, sent, sent, MP::CHAR, kNoData, received, received, MP::CHAR, group);
}

}  // namespace manynode::sst_element
