#include "replica.hpp"

#include <algorithm>
#include <string>

#include "manynode/error_report.hpp"
#include "simulation_error.hpp"

namespace manynode::fast {

namespace {

std::vector<std::uint16_t> class_indices(const RunConfig& config, const TimingProfile& profile) {
  std::vector<std::uint16_t> indices(config.ranks(), 0);
  for (std::size_t rank = 0; rank < config.jobs[0].class_of_rank.size(); ++rank) {
    const auto& name = config.jobs[0].class_of_rank[rank];
    const auto found = std::find(profile.classes.begin(), profile.classes.end(), name);
    if (found == profile.classes.end()) {
      std::string allowed;
      for (const auto& known : profile.classes) allowed += (allowed.empty() ? "" : ", ") + known;
      throw UserError("the timing profile has no such rank class", "class_of_rank[" + std::to_string(rank) + "]", name,
                      allowed, "name a class of the profile, or make the profile anew with this class");
    }
    indices[rank] = static_cast<std::uint16_t>(found - profile.classes.begin());
  }
  return indices;
}

bool fits(const Request& request, const Message& message) {
  return request.context == message.context && (request.peer == kAnySource || request.peer == message.source) &&
         (request.tag == kAnyTag || request.tag == message.tag);
}

}  // namespace

Replica::Replica(const Application& application, const RunConfig& config, const TimingProfile* profile,
                 std::uint32_t replica)
    : config_(config),
      size_(config.ranks()),
      overhead_send_(to_picoseconds(config.network.host.overhead_send[0].seconds)),
      overhead_receive_(to_picoseconds(config.network.host.overhead_recv[0].seconds)),
      overhead_per_byte_(ByteTime::per_byte(config.network.host.overhead_send[0].seconds_per_byte)),
      reduce_time_(ByteTime::of_bandwidth(config.network.host.reduce_bandwidth_Bps)),
      phases_(application.phases().size()),
      draws_(std::size_t{size_} * phases_, 0),
      network_(config.network, config.jobs[0].nodes, config.jobs[0].ranks_per_node, events_) {
  if (profile != nullptr) {
    timing_.emplace(*profile, class_indices(config, *profile), config.seed, replica, config.jobs[0].constant);
  }
  result_.replica = replica;
  result_.ranks.resize(size_);
  for (std::uint32_t index = 0; index < size_; ++index) {
    const int rank = static_cast<int>(index);
    const int size = static_cast<int>(size_);
    ranks_.emplace_back(rank, size, application.make(rank, size), config.collectives);
  }
}

ReplicaResult Replica::run(const ProgressSink& progress) {
  for (std::uint32_t rank = 0; rank < size_; ++rank) events_.push(0, EventKind::Resume, rank);
  constexpr std::uint64_t kReportEvery = 1u << 18;
  while (!events_.empty()) {
    const Event event = events_.pop();
    ++result_.events;
    if (event.kind == EventKind::Resume) {
      advance(event.subject);
    } else {
      deliver(event.subject, network_.handle(event));
    }
    if (progress && result_.events % kReportEvery == 0) report(progress);
  }
  check_end();
  for (const Rank& rank : ranks_) result_.makespan = std::max(result_.makespan, rank.clock);
  result_.links = network_.links();
  if (progress) report(progress);
  return std::move(result_);
}

void Replica::report(const ProgressSink& progress) {
  std::uint32_t steps = 0;
  while (steps < ranks_in_step_.size() && ranks_in_step_[steps] == size_) ++steps;
  progress({result_.replica, to_seconds(events_.now()), result_.events, result_.messages, finished_, size_, steps});
}

void Replica::advance(std::uint32_t index) {
  Rank& rank = ranks_[index];
  auto& uses = result_.ranks[index];
  while (fetch(rank, index)) {
    const Primitive& primitive = rank.primitives[rank.next_primitive];
    const Picoseconds before = rank.clock;
    const bool done = execute(rank, index, primitive);
    uses[static_cast<std::size_t>(primitive.call)].time += rank.clock - before;
    if (!done) return;
    ++rank.next_primitive;
  }
}

bool Replica::fetch(Rank& rank, std::uint32_t index) {
  while (rank.next_primitive == rank.primitives.size()) {
    if (rank.next_call == rank.calls.calls.size()) {
      if (rank.steps > 0 && rank.next_call > 0) {
        end_step(rank);
        rank.calls.clear();
        rank.next_call = 0;
      }
      if (rank.last_step) {
        rank.finished = true;
        ++finished_;
        return false;
      }
      if (rank.clock > events_.now()) {
        events_.push(rank.clock, EventKind::Resume, index);
        return false;
      }
      Mpi mpi(static_cast<int>(index), static_cast<int>(size_), rank.calls, rank.communicators);
      rank.last_step = !rank.skeleton->step(mpi);
      ++rank.steps;
      if (config_.jobs[0].iterations_limit && rank.steps >= *config_.jobs[0].iterations_limit) rank.last_step = true;
      if (rank.calls.calls.empty()) end_step(rank);
      continue;
    }
    const Call& call = rank.calls.calls[rank.next_call++];
    ++result_.ranks[index][static_cast<std::size_t>(call.kind)].calls;
    rank.primitives.clear();
    rank.next_primitive = 0;
    rank.lowering.lower(call, rank.calls, rank.primitives);
  }
  return true;
}

void Replica::end_step(Rank& rank) {
  const std::size_t step = rank.steps - 1;
  if (step >= result_.iteration_end.size()) {
    result_.iteration_end.resize(step + 1, 0);
    ranks_in_step_.resize(step + 1, 0);
  }
  result_.iteration_end[step] = std::max(result_.iteration_end[step], rank.clock);
  ++ranks_in_step_[step];
}

bool Replica::execute(Rank& rank, std::uint32_t index, const Primitive& primitive) {
  switch (primitive.kind) {
    case PrimitiveKind::Compute:
      rank.clock += compute_time(index, primitive.phase);
      return true;
    case PrimitiveKind::ReduceLocal:
      rank.clock += reduce_time_.of(primitive.bytes);
      return true;
    case PrimitiveKind::Isend:
      start_send(rank, index, primitive);
      return true;
    case PrimitiveKind::Irecv:
      start_receive(rank, index, primitive);
      return true;
    case PrimitiveKind::Wait:
      return wait(rank, index, primitive);
  }
  return true;
}

Picoseconds Replica::compute_time(std::uint32_t index, std::uint32_t phase) {
  if (!timing_) return 0;
  const std::uint32_t draw = draws_[index * phases_ + phase]++;
  return to_picoseconds(timing_->draw(index, phase, draw));
}

std::uint32_t Replica::add_request(Rank& rank, std::uint32_t index, const Primitive& primitive) {
  const std::uint32_t number = requests_.take();
  Request& request = requests_[number];
  request.posted_at = rank.clock;
  request.bytes = primitive.bytes;
  request.id = primitive.request;
  request.rank = static_cast<std::int32_t>(index);
  request.peer = primitive.peer;
  request.tag = primitive.tag;
  request.context = primitive.context;
  request.receive = primitive.kind == PrimitiveKind::Irecv;
  rank.requests.add(requests_, number);
  return number;
}

void Replica::start_send(Rank& rank, std::uint32_t index, const Primitive& primitive) {
  auto& use = result_.ranks[index][static_cast<std::size_t>(primitive.call)];
  use.bytes += primitive.bytes;
  ++result_.messages;
  result_.bytes += primitive.bytes;

  rank.clock += overhead_send_ + overhead_per_byte_.of(primitive.bytes);
  const std::uint32_t number = add_request(rank, index, primitive);
  const std::uint32_t sent = network_.messages().take();
  Message& message = network_.messages()[sent];
  message.bytes = primitive.bytes;
  message.source = static_cast<std::int32_t>(index);
  message.destination = primitive.peer;
  message.tag = primitive.tag;
  message.context = primitive.context;
  message.send_request = number;
  if (primitive.bytes > config_.network.host.eager_limit_bytes) {
    message.kind = MessageKind::RequestToSend;
  } else {
    // The library has copied the data: the buffer is free again.
    requests_[number].complete = true;
    requests_[number].complete_at = rank.clock;
  }
  network_.send(sent, rank.clock);
}

void Replica::start_receive(Rank& rank, std::uint32_t index, const Primitive& primitive) {
  const std::uint32_t number = add_request(rank, index, primitive);
  const Request& request = requests_[number];
  const std::uint32_t message = take_first(network_.messages(), rank.unexpected,
                                           [&](const Message& candidate) { return fits(request, candidate); });
  if (message == kNone) {
    append(requests_, rank.posted, number);
  } else {
    match(message, number, rank.clock);
  }
}

bool Replica::wait(Rank& rank, std::uint32_t index, const Primitive& primitive) {
  const std::uint32_t number = rank.requests.find(requests_, primitive.request);
  if (number == kNone) {
    throw SimulationError("a rank waits for a request that it never started",
                          {"rank " + std::to_string(index) + " waits in " + std::string(call_name(primitive.call)) +
                           " for request " + std::to_string(primitive.request)},
                          "the skeleton must start each request in the step in which it waits for it, and wait once");
  }
  const Request& request = requests_[number];
  if (!request.complete) {
    rank.waits_for = number;
    return false;
  }
  rank.clock = std::max(rank.clock, request.complete_at);
  if (request.receive) rank.clock += overhead_receive_ + overhead_per_byte_.of(request.bytes);
  rank.requests.remove(requests_, number);
  requests_.release(number);
  return true;
}

void Replica::deliver(std::uint32_t index, const Progress& progress) {
  const MessageKind kind = network_.messages()[index].kind;
  if (progress.head && (kind == MessageKind::Eager || kind == MessageKind::RequestToSend)) arrive(index);
  if (progress.injected && kind == MessageKind::Data) {
    complete(network_.messages()[index].send_request, progress.injected_at);
  }
  if (!progress.complete) return;

  // References to messages end where a rank goes on, because it may send.
  const Message message = network_.messages()[index];
  if (kind == MessageKind::ClearToSend) {
    network_.messages()[index].kind = MessageKind::Data;
    network_.send(index, message.complete_at);
  } else if (kind == MessageKind::Data ||
             (kind == MessageKind::Eager && !progress.head && message.receive_request != kNone)) {
    // An eager message of one chunk was settled when its head arrived.
    network_.messages().release(index);
    complete(message.receive_request, message.complete_at);
  }
}

void Replica::arrive(std::uint32_t index) {
  const Message& message = network_.messages()[index];
  Rank& rank = ranks_[static_cast<std::size_t>(message.destination)];
  const std::uint32_t request =
      take_first(requests_, rank.posted, [&](const Request& candidate) { return fits(candidate, message); });
  if (request == kNone) {
    append(network_.messages(), rank.unexpected, index);
  } else {
    match(index, request, requests_[request].posted_at);
  }
}

void Replica::match(std::uint32_t index, std::uint32_t number, Picoseconds time) {
  Message& message = network_.messages()[index];
  Request& request = requests_[number];
  if (message.bytes > request.bytes) {
    throw SimulationError("a message is longer than the receive that it meets",
                          {describe_message(message), describe_receive(request)},
                          "make the receive as large as the send (MPI_ERR_TRUNCATE)");
  }
  request.bytes = message.bytes;
  message.receive_request = number;
  if (message.kind == MessageKind::RequestToSend) {
    // NICs answer by themselves, without the processor (asynchronous progress).
    const Picoseconds answer = std::max({time, message.complete_at, events_.now()});
    message.kind = MessageKind::ClearToSend;
    network_.send(index, answer);
  } else if (message.complete) {
    const Picoseconds at = std::max(time, message.complete_at);
    network_.messages().release(index);
    complete(number, at);
  }
}

void Replica::complete(std::uint32_t number, Picoseconds time) {
  Request& request = requests_[number];
  request.complete = true;
  request.complete_at = time;
  const auto index = static_cast<std::uint32_t>(request.rank);
  Rank& rank = ranks_[index];
  if (rank.waits_for != number) return;
  rank.waits_for = kNone;
  advance(index);
}

ReplicaResult simulate(const Application& application, const RunConfig& config, const TimingProfile* profile,
                       std::uint32_t replica, const ProgressSink& progress) {
  return Replica(application, config, profile, replica).run(progress);
}

}  // namespace manynode::fast
