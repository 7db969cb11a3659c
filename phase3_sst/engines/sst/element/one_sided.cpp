#include "one_sided.hpp"

#include "message_tags.hpp"

namespace manynode::sst_element {

void RemoteOperations::asked(std::size_t job, std::uint32_t origin, std::uint32_t target,
                             const RemoteOperation& operation) {
  const std::lock_guard lock(mutex_);
  under_way_[{job, origin, target}].push_back(operation);
}

RemoteOperation RemoteOperations::came(std::size_t job, std::uint32_t origin, std::uint32_t target) {
  const std::lock_guard lock(mutex_);
  const auto entry = under_way_.find({job, origin, target});
  const RemoteOperation oldest = entry->second.front();
  entry->second.pop_front();
  if (entry->second.empty()) under_way_.erase(entry);
  return oldest;
}

void OneSided::open(EventSink& sink) {
  sink.irecv(kAnyEmberRank, remote_tag(RemotePart::Request, 0), static_cast<std::uint32_t>(eager_bytes_), &request_);
}

void OneSided::start(std::uint32_t target, std::uint64_t bytes, std::uint64_t returned, CallKind call,
                     RequestHandle* done, network::Picoseconds owed, EventSink& sink) {
  const RemoteOperation operation{bytes, returned, next_number_++, owed};
  operations_.asked(job_, rank_, target, operation);
  sink.irecv(target, remote_tag(RemotePart::Reply, operation.number), message_size(returned, call), done);
  const bool eager = bytes <= eager_bytes_;
  sink.isend(target, remote_tag(RemotePart::Request, 0), eager ? message_size(bytes, call) : 0, &sent_.emplace_back());
  if (eager) return;
  sink.isend(target, remote_tag(RemotePart::Data, operation.number), message_size(bytes, call), &sent_.emplace_back());
}

RequestHandle OneSided::take(std::uint32_t request) {
  const auto entry = started_.find(request);
  const RequestHandle handle = entry->second;
  started_.erase(entry);
  return handle;
}

bool OneSided::go_on(EventSink& sink) {
  if (asked_) {
    asked_ = false;
    if (completed(sink)) return true;
  }
  return wait(sink);
}

bool OneSided::completed(EventSink& sink) {
  const auto place = static_cast<std::size_t>(index_);
  if (place == 0) {
    const std::uint32_t source = sink.received_from();
    const RemoteOperation operation = operations_.came(job_, source, rank_);
    open(sink);
    if (const std::uint64_t nanoseconds = paid_time_.of(operation.owed); nanoseconds > 0) sink.delay(nanoseconds);
    if (operation.bytes <= eager_bytes_) {
      reply(operation, source, sink);
    } else {
      Arriving& data = arriving_.emplace_back(operation, source);
      sink.irecv(source, remote_tag(RemotePart::Data, operation.number), static_cast<std::uint32_t>(operation.bytes),
                 &data.handle);
    }
    return true;
  }
  if (place <= arriving_.size()) {
    const auto data = arriving_.begin() + static_cast<std::ptrdiff_t>(place - 1);
    reply(data->operation, data->origin, sink);
    arriving_.erase(data);
    return true;
  }
  if (place + 1 < handles_.size()) {
    sent_.pop_front();
  } else {
    awaited_.pop_front();
  }
  return false;
}

bool OneSided::wait(EventSink& sink) {
  if (awaited_.empty()) return false;
  handles_.clear();
  handles_.push_back(request_);
  for (const Arriving& data : arriving_) handles_.push_back(data.handle);
  if (!sent_.empty()) handles_.push_back(sent_.front());
  handles_.push_back(awaited_.front());
  sink.waitany(handles_.data(), static_cast<std::uint32_t>(handles_.size()), &index_);
  asked_ = true;
  return true;
}

void OneSided::reply(const RemoteOperation& operation, std::uint32_t origin, EventSink& sink) {
  sink.isend(origin, remote_tag(RemotePart::Reply, operation.number), static_cast<std::uint32_t>(operation.returned),
             forgotten());
}

}  // namespace manynode::sst_element
