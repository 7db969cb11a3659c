#include "rank.hpp"

#include <algorithm>
#include <limits>

#include <simgrid/s4u.hpp>

#include "simulation_error.hpp"

namespace manynode::smpi_engine {

namespace {

namespace s4u = ::simgrid::s4u;

// A sleep of zero time would still be a simulation event.
void pass(double seconds) {
  if (seconds > 0) s4u::this_actor::sleep_for(seconds);
}

double overhead_s(const std::vector<network::OverheadSegment>& segments, std::uint64_t bytes) {
  auto segment = segments.end() - 1;
  while (bytes < segment->from_bytes) --segment;
  return segment->seconds + segment->seconds_per_byte * static_cast<double>(bytes);
}

// Remote operations of a rank that are under way at a time, as many as send queues of NICs hold: a rank that has more
// waits for its oldest one. SimGrid's time grows with the flows, and the system limits the stacks of actors.
constexpr std::size_t kMostRemote = 64;
constexpr std::size_t kFewestRemote = 16;
constexpr std::size_t kRemoteInAll = 16'384;

// Its bytes are never read or written.
char payload;

int count_of(const Primitive& primitive) {
  if (primitive.bytes > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    throw network::SimulationError("a message is too long for the engine simgrid",
                                   {std::string(call_name(primitive.call)) + ": " + std::to_string(primitive.bytes) +
                                    " bytes; SMPI counts at most 2147483647"},
                                   "send it in several messages, or use the engine fast");
  }
  return static_cast<int>(primitive.bytes);
}

}  // namespace

Rank::Rank(World& world, std::size_t job, int rank, int size)
    : world_(world),
      job_(job),
      rank_(rank),
      size_(size),
      skeleton_(world.job(job).application->make(rank, size)),
      communicators_(rank, size),
      lowering_(rank, world.config().collectives, communicators_, world.config().network.host.local_work(),
                world.job(job).config->block_ranks_per_node()),
      draws_(world.job(job).phases, 0) {}

void Rank::run() {
  join();
  const network::JobConfig& config = *world_.job(job_).config;
  pass(config.start_s);
  play_skeleton();
  while (config.background) {
    const network::Picoseconds began = world_.now();
    skeleton_ = world_.job(job_).application->make(rank_, size_);
    communicators_ = Communicators(rank_, size_);
    play_skeleton();
    if (world_.now() == began) {
      throw network::SimulationError("a job in the background takes no time", {"job " + config.name},
                                     "give it messages to send, or a timing profile");
    }
  }
  world_.finished(job_);
  // Messages may still arrive at this rank, and SMPI only sends to existing actors.
  s4u::this_actor::suspend();
}

void Rank::join() {
  // SMPI's MPI_COMM_WORLD finds its group by the actor that runs, and matching a receive from any source runs outside
  // of actors: hence a duplicate. Creating it takes simulated messages, so the ranks' time starts after them.
  const std::string& instance = world_.job(job_).instance;
  s4u::Actor::self()->set_property("instance_id", instance);
  s4u::Actor::self()->set_property("rank", std::to_string(rank_));
  MPI_Init(nullptr, nullptr);
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
  MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  // Replay mode: messages without payload.
  smpi_replay_init(instance.c_str(), rank_, 0);
  world_.meet();
}

void Rank::play_skeleton() {
  const network::JobConfig& config = *world_.job(job_).config;
  do {
    calls_.clear();
    Mpi mpi(rank_, size_, calls_, communicators_);
    last_step_ = !skeleton_->step(mpi);
    ++steps_;
    if (config.iterations_limit && !config.background && steps_ >= *config.iterations_limit) last_step_ = true;
    play_step();
    if (!config.background) world_.step_ended(job_, steps_ - 1);
  } while (!last_step_);
}

void Rank::play_step() {
  auto& uses = world_.uses(job_, static_cast<std::uint32_t>(rank_));
  for (const Call& call : calls_.calls) {
    ++uses[static_cast<std::size_t>(call.kind)].calls;
    primitives_.clear();
    lowering_.lower(call, calls_, primitives_);
    for (auto next = primitives_.begin(); next != primitives_.end();) {
      const network::Picoseconds before = world_.now();
      auto& use = uses[static_cast<std::size_t>(next->call)];
      if (next->kind == PrimitiveKind::Wait) {
        const auto end = std::find_if(next, primitives_.end(),
                                      [](const Primitive& other) { return other.kind != PrimitiveKind::Wait; });
        wait({next, end});
        next = end;
      } else {
        execute(*next++);
      }
      use.time += world_.now() - before;
    }
    world_.tick();
  }
}

void Rank::execute(const Primitive& primitive) {
  const World::Job& job = world_.job(job_);
  const network::HostConfig& host = world_.config().network.host;
  switch (primitive.kind) {
    case PrimitiveKind::Compute:
      if (primitive.phase == kPause) {
        pass(static_cast<double>(primitive.bytes) * 1e-12);
      } else if (job.timing) {
        pass(job.timing->draw(static_cast<std::uint32_t>(rank_), primitive.phase, draws_[primitive.phase]++));
      }
      break;
    case PrimitiveKind::ReduceLocal:
      pass(static_cast<double>(primitive.bytes) / host.reduce_bandwidth_Bps.of(primitive.bytes));
      break;
    case PrimitiveKind::CopyLocal:
      pass(static_cast<double>(primitive.bytes) / host.copy_bandwidth_Bps->of(primitive.bytes));
      break;
    case PrimitiveKind::FreshMemory:
      pass(static_cast<double>(primitive.bytes) / host.fresh_bandwidth_Bps->of(primitive.bytes));
      break;
    case PrimitiveKind::CollectiveCall:
      pass(host.collective_call_s);
      break;
    case PrimitiveKind::CollectiveStep:
      pass(host.collective_step_s);
      break;
    case PrimitiveKind::Isend:
      start_send(primitive);
      break;
    case PrimitiveKind::Irecv:
      start_receive(primitive);
      break;
    case PrimitiveKind::Remote:
      start_remote(primitive);
      break;
    case PrimitiveKind::Wait:
      break;  // play_step() merges consecutive ones
  }
}

void Rank::start_send(const Primitive& primitive) {
  const int count = count_of(primitive);
  auto& use = world_.uses(job_, static_cast<std::uint32_t>(rank_))[static_cast<std::size_t>(primitive.call)];
  use.bytes += primitive.bytes;
  pass(overhead_s(world_.config().network.host.overhead_send, primitive.bytes));
  const int tag = world_.envelopes().tag_of(primitive.context, primitive.tag);
  world_.envelopes().sent(job_, rank_, primitive.peer, tag, primitive.bytes);
  world_.sent(job_, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(primitive.peer), primitive.bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&payload, count, MPI_BYTE, primitive.peer, tag, communicator_, &request);
  if (primitive.request == kForgotten) {
    MPI_Request_free(&request);
    return;
  }
  pending_.insert_or_assign(primitive.request, Pending{request, primitive, {}});
}

// SMPI's own one-sided calls need the target's processor. The request and its answer are therefore messages between
// NICs, which an actor of their own carries one after the other.
void Rank::start_remote(const Primitive& primitive) {
  const auto own = static_cast<std::uint32_t>(rank_);
  const auto target = static_cast<std::uint32_t>(primitive.peer);
  auto& use = world_.uses(job_, own)[static_cast<std::size_t>(primitive.call)];
  use.bytes += primitive.bytes + primitive.returned;
  pass(overhead_s(world_.config().network.host.overhead_send, primitive.bytes));
  while (remote_.size() >= std::clamp(kRemoteInAll / world_.config().ranks(), kFewestRemote, kMostRemote)) {
    remote_.front()->join();
    remote_.pop_front();
  }
  world_.count(job_, own, target, primitive.bytes);
  world_.count(job_, target, own, primitive.returned);
  auto remote = std::make_shared<Remote>();
  auto actor = s4u::Actor::init("remote operation", s4u::this_actor::get_host());
  constexpr unsigned kStackBytes = 64 * 1024;
  actor->set_stacksize(kStackBytes);
  actor->start(
      [&world = world_, job = job_, own, target, bytes = primitive.bytes, returned = primitive.returned, remote] {
        world.carry(job, own, target, bytes);
        world.carry(job, target, own, returned);
        remote->end_s = s4u::Engine::get_clock();
        remote->ended->release();
      });
  remote_.push_back(remote);
  pending_.insert_or_assign(primitive.request, Pending{MPI_REQUEST_NULL, primitive, remote});
}

void Rank::start_receive(const Primitive& primitive) {
  if (primitive.tag == kAnyTag) {
    throw network::SimulationError("the engine simgrid has no receive of any tag",
                                   {world_.rank_name(job_, rank_) + " starts one in " +
                                    std::string(call_name(primitive.call)) + " (step " + std::to_string(steps_) + ")"},
                                   "name the tag in the skeleton, or use the engine fast");
  }
  const int tag = world_.envelopes().tag_of(primitive.context, primitive.tag);
  const int source = primitive.peer == kAnySource ? MPI_ANY_SOURCE : primitive.peer;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&payload, count_of(primitive), MPI_BYTE, source, tag, communicator_, &request);
  pending_.insert_or_assign(primitive.request, Pending{request, primitive, {}});
}

// SMPI completes a long message at both ends at once. Here that is the time at which its last byte has left the sender.
// It reaches the receiver a latency later; the sender is done when the acknowledgement has crossed as well. Each
// receive costs processor time, in the order of arrival. The rank sleeps once for all of it, so SimGrid's time lags
// behind the rank's within the loop. A message that arrived before the wait began counts as arrived, whatever its time.
void Rank::wait(std::span<const Primitive> waits) {
  const double began_s = s4u::Engine::get_clock();
  std::vector<Pending> pending = take(waits);
  std::vector<MPI_Request> requests;
  for (const Pending& one : pending) requests.push_back(one.request);
  std::vector<std::pair<double, double>> completions;  // when, and its processor time [s]
  const auto remote = std::count_if(pending.begin(), pending.end(), [](const Pending& one) { return one.remote; });
  for (std::size_t left = pending.size() - static_cast<std::size_t>(remote); left > 0; --left) {
    const auto first =
        std::find_if(requests.begin(), requests.end(), [](MPI_Request request) { return request != MPI_REQUEST_NULL; });
    awaited_ = &pending[static_cast<std::size_t>(first - requests.begin())];
    int index = 0;
    MPI_Status status;
    MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, &status);
    awaited_ = nullptr;
    const double now_s = s4u::Engine::get_clock();
    completions.push_back(
        completion(pending[static_cast<std::size_t>(index)].primitive, status, now_s, now_s > began_s));
  }
  for (const Pending& one : pending) {
    if (!one.remote) continue;
    awaited_ = &one;
    one.remote->join();
    awaited_ = nullptr;
    const std::uint64_t returned = one.primitive.returned;
    const double cost_s = returned > 0 ? overhead_s(world_.config().network.host.overhead_recv, returned) : 0;
    completions.emplace_back(one.remote->end_s, cost_s);
  }
  std::sort(completions.begin(), completions.end());
  double ready_s = began_s;
  for (const auto& [at_s, cost_s] : completions) ready_s = std::max(ready_s, at_s) + cost_s;
  pass(ready_s - s4u::Engine::get_clock());
}

std::vector<Rank::Pending> Rank::take(std::span<const Primitive> waits) {
  std::vector<Pending> taken;
  for (const Primitive& primitive : waits) {
    const auto entry = pending_.find(primitive.request);
    if (entry == pending_.end()) {
      throw network::SimulationError(
          "a rank waits for a request that it never started",
          {world_.rank_name(job_, rank_) + " waits in " + std::string(call_name(primitive.call)) + " for request " +
           std::to_string(primitive.request)},
          "the skeleton must start each request in the step in which it waits for it, and wait once");
    }
    taken.push_back(entry->second);
    pending_.erase(entry);
  }
  return taken;
}

std::pair<double, double> Rank::completion(const Primitive& primitive, MPI_Status& status, double now_s,
                                           bool waited) const {
  const auto& host = world_.config().network.host;
  if (primitive.kind != PrimitiveKind::Irecv) {
    const bool acknowledged = primitive.bytes > host.eager_limit_bytes && waited;
    return {now_s + (acknowledged ? 2 * world_.latency_s(job_, rank_, primitive.peer) : 0), 0};
  }
  if (status.MPI_ERROR == MPI_ERR_TRUNCATE) {
    throw network::SimulationError(
        "a message is longer than the receive that it meets",
        {"receive of " + world_.rank_name(job_, rank_) + " from rank " + std::to_string(status.MPI_SOURCE) + ", " +
         envelope_text(primitive.tag, primitive.bytes, primitive.context)},
        "make the receive as large as the send (MPI_ERR_TRUNCATE)");
  }
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  const auto bytes = static_cast<std::uint64_t>(count);
  world_.envelopes().received(job_, status.MPI_SOURCE, rank_, status.MPI_TAG);
  const bool on_the_way = bytes > host.eager_limit_bytes && waited;
  return {now_s + (on_the_way ? world_.latency_s(job_, status.MPI_SOURCE, rank_) : 0),
          overhead_s(host.overhead_recv, bytes)};
}

std::string Rank::peer_name(std::int32_t peer) const {
  return peer == kAnySource ? std::string("any rank") : "rank " + std::to_string(peer);
}

std::string Rank::describe_wait() const {
  const Primitive& primitive = awaited_->primitive;
  const std::string who = world_.rank_name(job_, rank_) + " waits in " + std::string(call_name(primitive.call)) +
                          " (step " + std::to_string(steps_) + ") ";
  const std::string what = envelope_text(primitive.tag, primitive.bytes, primitive.context);
  if (primitive.kind == PrimitiveKind::Irecv)
    return who + "for a message from " + peer_name(primitive.peer) + ", " + what;
  return who + "for " + peer_name(primitive.peer) + " to receive its message, " + what;
}

void Rank::describe_left(std::vector<std::string>& lines, std::size_t most) const {
  for (const auto& [number, pending] : pending_) {
    if (lines.size() == most) return;
    if (&pending == awaited_ || pending.primitive.kind != PrimitiveKind::Irecv) continue;
    lines.push_back("nobody waited for the receive of " + world_.rank_name(job_, rank_) + " from " +
                    peer_name(pending.primitive.peer) + ", " +
                    envelope_text(pending.primitive.tag, pending.primitive.bytes, pending.primitive.context));
  }
}

}  // namespace manynode::smpi_engine
