// Waiting and testing.
#include "constants.hpp"
#include "proxy.hpp"

namespace manynode::bridge {

// One request of the guest is complete: its status and its data go into the reply.
void Proxy::complete(std::size_t index, std::int64_t handle, const MPI_Status& status, bool in_status, Reply& reply) {
  const auto found = pending_.find(handle);
  if (found == pending_.end() || !found->second.active) {
    return;  // MPI_REQUEST_NULL or an inactive persistent request: the guest knows
  }
  Pending& pending = found->second;
  std::int64_t counted = 0;
  std::size_t bytes = 0;
  bool external = pending.external;
  if (pending.receives) {
    bytes = received_bytes(status, pending.basic, counted);
    external = !pending.from_nobody && is_external(pending.comm, status.MPI_SOURCE);
  } else if (pending.collective) {
    bytes = pending.receive.size;
  }
  if (bytes > 0) {
    inject_write(handle, bytes, external);
    reply.add(pending.receive.at.get(), bytes);
  }
  const bool message = pending.receives;
  std::int64_t words[MB_DONE_WORDS] = {};
  words[MB_DONE_INDEX] = static_cast<std::int64_t>(index);
  words[MB_DONE_SOURCE] = !message              ? std::int64_t{MB_ANY_SOURCE}
                          : pending.from_nobody ? std::int64_t{MB_PROC_NULL}
                                                : wire_rank(status.MPI_SOURCE);
  words[MB_DONE_TAG] = message && !pending.from_nobody ? wire_tag(status.MPI_TAG) : std::int64_t{MB_ANY_TAG};
  words[MB_DONE_ERROR] = in_status ? wire_error(status.MPI_ERROR) : 0;
  words[MB_DONE_BYTES] = counted;
  words[MB_DONE_PAYLOAD] = static_cast<std::int64_t>(bytes);
  words[MB_DONE_EXTERNAL] = external ? 1 : 0;
  reply.list.insert(reply.list.end(), words, words + MB_DONE_WORDS);
  if (pending.persistent) {
    pending.active = false;
  } else {
    completed_.push_back(handle);
  }
}

void Proxy::wait(const Request& request, Reply& reply) {
  const std::size_t count = request.list.size();
  const int n = static_cast<int>(count);
  std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
  std::vector<MPI_Status> statuses(count + 1);
  std::vector<int> indices(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (request.list[i] != 0) {
      requests[i] = pending_.at(request.list[i]).request;
    }
  }
  int result = MPI_SUCCESS;
  int flag = 1;
  int index = MPI_UNDEFINED;
  bool all = false;
  bool some = false;
  switch (request.header.call) {
    case MB_Wait:
      result = MPI_Wait(requests.data(), statuses.data());
      all = true;
      break;
    case MB_Test:
      result = MPI_Test(requests.data(), &flag, statuses.data());
      all = flag != 0;
      break;
    case MB_Waitall:
      result = MPI_Waitall(n, requests.data(), statuses.data());
      all = true;
      break;
    case MB_Testall:
      result = MPI_Testall(n, requests.data(), &flag, statuses.data());
      all = flag != 0;
      break;
    case MB_Waitany:
      result = MPI_Waitany(n, requests.data(), &index, statuses.data());
      break;
    case MB_Testany:
      result = MPI_Testany(n, requests.data(), &index, &flag, statuses.data());
      break;
    case MB_Waitsome:
      result = MPI_Waitsome(n, requests.data(), &index, indices.data(), statuses.data());
      some = true;
      break;
    default:
      result = MPI_Testsome(n, requests.data(), &index, indices.data(), statuses.data());
      some = true;
      break;
  }
  reply.header.word[MB_R_RESULT] = wire_error(result);
  reply.header.word[MB_R_FLAG] = flag;
  reply.header.word[MB_R_INDEX] = index == MPI_UNDEFINED ? MB_UNDEFINED : index;
  int kind = MPI_SUCCESS;
  MPI_Error_class(result, &kind);
  const bool in_status = kind == MPI_ERR_IN_STATUS;
  // Persistent requests keep their handle, others may have become MPI_REQUEST_NULL.
  for (std::size_t i = 0; i < count; ++i) {
    if (request.list[i] != 0) {
      pending_.at(request.list[i]).request = requests[i];
    }
  }
  if (all) {
    for (std::size_t i = 0; i < count; ++i) {
      complete(i, request.list[i], statuses[i], in_status, reply);
    }
  } else if (some) {
    for (int i = 0; index != MPI_UNDEFINED && i < index; ++i) {
      const auto at = static_cast<std::size_t>(indices[static_cast<std::size_t>(i)]);
      complete(at, request.list[at], statuses[static_cast<std::size_t>(i)], in_status, reply);
    }
  } else if (flag != 0 && index != MPI_UNDEFINED) {
    complete(static_cast<std::size_t>(index), request.list[static_cast<std::size_t>(index)], statuses[0], in_status,
             reply);
  }
}

void Proxy::request_free(const Request& request, Reply& reply) {
  const auto found = pending_.find(request.list.at(0));
  if (found == pending_.end()) {
    throw GuestLost("its guest freed a request that does not exist");
  }
  reply.header.word[MB_R_RESULT] = wire_error(MPI_Request_free(&found->second.request));
  abandoned_.push_back(std::move(found->second));
  pending_.erase(found);
}

}  // namespace manynode::bridge
