// Point-to-point calls.
#include <cstring>

#include "constants.hpp"
#include "proxy.hpp"

namespace manynode::bridge {

// Bytes that came, as they travel; `counted` as MPI counts them, which differs for types with gaps.
std::size_t Proxy::received_bytes(const MPI_Status& status, std::int64_t basic, std::int64_t& counted) const {
  MPI_Count bytes = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  counted = bytes == MPI_UNDEFINED ? 0 : bytes;
  const std::int64_t size = size_of(basic);
  const std::int64_t span = span_of(basic);
  return static_cast<std::size_t>(size == span ? counted : counted / size * span);
}

// Fills the reply's status; basic 0: of a probe, whose datatype is not known.
void Proxy::put_status(const MPI_Status& status, std::int64_t basic, std::int64_t comm, std::int64_t source,
                       Reply& reply) {
  std::int64_t counted = 0;
  received_bytes(status, basic != 0 ? basic : 4, counted);
  reply.header.word[MB_R_SOURCE] = wire_rank(status.MPI_SOURCE);
  reply.header.word[MB_R_TAG] = wire_tag(status.MPI_TAG);
  reply.header.word[MB_R_BYTES] = counted;
  reply.header.word[MB_R_EXTERNAL] = is_external(comm, status.MPI_SOURCE) ? 1 : 0;
  if (source == MB_PROC_NULL) {
    // Nobody is no member of the communicator.
    reply.header.word[MB_R_SOURCE] = MB_PROC_NULL;
    reply.header.word[MB_R_TAG] = MB_ANY_TAG;
    reply.header.word[MB_R_EXTERNAL] = 0;
  }
}

void Proxy::send(const Request& request, Reply& reply) {
  const int call = request.header.call;
  const MPI_Comm comm = comm_of(request.word(MB_P_COMM)).comm;
  inject_read(0, request.payload.size, is_external(request.word(MB_P_COMM), request.word(MB_P_PEER)));
  const auto function = call == MB_Send ? MPI_Send : call == MB_Ssend ? MPI_Ssend : MPI_Rsend;
  reply.header.word[MB_R_RESULT] = wire_error(
      function(request.payload.at.get(), native_count(request.word(MB_P_COUNT)), native_type(request.word(MB_P_TYPE)),
               native_rank(request.word(MB_P_PEER)), native_tag(request.word(MB_P_TAG)), comm));
}

void Proxy::receive(const Request& request, Reply& reply) {
  const std::int64_t basic = request.word(MB_P_TYPE);
  const MPI_Comm comm = comm_of(request.word(MB_P_COMM)).comm;
  outgoing_ = Bytes(static_cast<std::size_t>(request.word(MB_P_COUNT) * span_of(basic)));
  MPI_Status status;
  const int result = MPI_Recv(outgoing_.at.get(), native_count(request.word(MB_P_COUNT)), native_type(basic),
                              native_rank(request.word(MB_P_PEER)), native_tag(request.word(MB_P_TAG)), comm, &status);
  reply.header.word[MB_R_RESULT] = wire_error(result);
  if (result != MPI_SUCCESS) {
    return;
  }
  std::int64_t counted = 0;
  put_status(status, basic, request.word(MB_P_COMM), request.word(MB_P_PEER), reply);
  const std::size_t bytes = received_bytes(status, basic, counted);
  inject_write(0, bytes, reply.header.word[MB_R_EXTERNAL] != 0);
  reply.add(outgoing_.at.get(), bytes);
}

void Proxy::sendrecv(const Request& request, Reply& reply) {
  const std::int64_t basic = request.word(MB_P_RECV_TYPE);
  const MPI_Comm comm = comm_of(request.word(MB_P_COMM)).comm;
  inject_read(0, request.payload.size, is_external(request.word(MB_P_COMM), request.word(MB_P_PEER)));
  outgoing_ = Bytes(static_cast<std::size_t>(request.word(MB_P_RECV_COUNT) * span_of(basic)));
  MPI_Status status;
  const int result = MPI_Sendrecv(
      request.payload.at.get(), native_count(request.word(MB_P_COUNT)), native_type(request.word(MB_P_TYPE)),
      native_rank(request.word(MB_P_PEER)), native_tag(request.word(MB_P_TAG)), outgoing_.at.get(),
      native_count(request.word(MB_P_RECV_COUNT)), native_type(basic), native_rank(request.word(MB_P_SOURCE)),
      native_tag(request.word(MB_P_RECV_TAG)), comm, &status);
  reply.header.word[MB_R_RESULT] = wire_error(result);
  if (result != MPI_SUCCESS) {
    return;
  }
  std::int64_t counted = 0;
  put_status(status, basic, request.word(MB_P_COMM), request.word(MB_P_SOURCE), reply);
  const std::size_t bytes = received_bytes(status, basic, counted);
  inject_write(0, bytes, reply.header.word[MB_R_EXTERNAL] != 0);
  reply.add(outgoing_.at.get(), bytes);
}

void Proxy::sendrecv_replace(const Request& request, Reply& reply) {
  const std::int64_t basic = request.word(MB_P_TYPE);
  const MPI_Comm comm = comm_of(request.word(MB_P_COMM)).comm;
  inject_read(0, request.payload.size, is_external(request.word(MB_P_COMM), request.word(MB_P_PEER)));
  MPI_Status status;
  const int result = MPI_Sendrecv_replace(request.payload.at.get(), native_count(request.word(MB_P_COUNT)),
                                          native_type(basic), native_rank(request.word(MB_P_PEER)),
                                          native_tag(request.word(MB_P_TAG)), native_rank(request.word(MB_P_SOURCE)),
                                          native_tag(request.word(MB_P_RECV_TAG)), comm, &status);
  reply.header.word[MB_R_RESULT] = wire_error(result);
  if (result != MPI_SUCCESS) {
    return;
  }
  std::int64_t counted = 0;
  put_status(status, basic, request.word(MB_P_COMM), request.word(MB_P_SOURCE), reply);
  const std::size_t bytes = received_bytes(status, basic, counted);
  inject_write(0, bytes, reply.header.word[MB_R_EXTERNAL] != 0);
  reply.add(request.payload.at.get(), bytes);
}

void Proxy::probe(const Request& request, Reply& reply) {
  const MPI_Comm comm = comm_of(request.word(MB_P_COMM)).comm;
  const int source = native_rank(request.word(MB_P_PEER));
  const int tag = native_tag(request.word(MB_P_TAG));
  MPI_Status status;
  int flag = 1;
  const int result = request.header.call == MB_Probe ? MPI_Probe(source, tag, comm, &status)
                                                     : MPI_Iprobe(source, tag, comm, &flag, &status);
  reply.header.word[MB_R_RESULT] = wire_error(result);
  reply.header.word[MB_R_FLAG] = flag;
  if (result == MPI_SUCCESS && flag != 0) {
    put_status(status, 0, request.word(MB_P_COMM), request.word(MB_P_PEER), reply);
  }
}

void Proxy::post(Request& request, Reply& reply) {
  const int call = request.header.call;
  const std::int64_t handle = request.word(MB_P_REQUEST);
  const MPI_Comm comm = comm_of(request.word(MB_P_COMM)).comm;
  Pending& pending = pending_[handle] = Pending();
  pending.comm = request.word(MB_P_COMM);
  pending.basic = request.word(MB_P_TYPE);
  pending.receives = call == MB_Irecv || call == MB_Recv_init;
  pending.from_nobody = request.word(MB_P_PEER) == MB_PROC_NULL;
  pending.persistent = call >= MB_Send_init && call <= MB_Recv_init;
  pending.active = !pending.persistent;
  pending.external = !pending.receives && is_external(pending.comm, request.word(MB_P_PEER));
  const auto bytes = static_cast<std::size_t>(request.word(MB_P_COUNT) * span_of(pending.basic));
  if (pending.receives) {
    pending.receive = Bytes(bytes);
  } else if (pending.persistent) {
    pending.send = Bytes(bytes);
  } else {
    pending.send = std::move(request.payload);
    inject_read(handle, pending.send.size, pending.external);
  }
  const auto sending = call == MB_Isend        ? MPI_Isend
                       : call == MB_Issend     ? MPI_Issend
                       : call == MB_Irsend     ? MPI_Irsend
                       : call == MB_Send_init  ? MPI_Send_init
                       : call == MB_Ssend_init ? MPI_Ssend_init
                                               : MPI_Rsend_init;
  const int count = native_count(request.word(MB_P_COUNT));
  const MPI_Datatype type = native_type(pending.basic);
  const int peer = native_rank(request.word(MB_P_PEER));
  const int tag = native_tag(request.word(MB_P_TAG));
  int result = MPI_SUCCESS;
  if (pending.receives) {
    const auto receiving = call == MB_Irecv ? MPI_Irecv : MPI_Recv_init;
    result = receiving(pending.receive.at.get(), count, type, peer, tag, comm, &pending.request);
  } else {
    result = sending(pending.send.at.get(), count, type, peer, tag, comm, &pending.request);
  }
  reply.header.word[MB_R_RESULT] = wire_error(result);
  if (result != MPI_SUCCESS) {
    pending_.erase(handle);
  }
}

void Proxy::start(const Request& request, Reply& reply) {
  std::vector<MPI_Request> requests;
  std::size_t used = 0;
  for (const std::int64_t handle : request.list) {
    Pending& pending = pending_.at(handle);
    if (pending.send.size > 0) {
      std::memcpy(pending.send.at.get(), request.payload.at.get() + used, pending.send.size);
      used += pending.send.size;
      inject_read(handle, pending.send.size, pending.external);
    }
    pending.active = true;
    requests.push_back(pending.request);
  }
  reply.header.word[MB_R_RESULT] =
      wire_error(request.header.call == MB_Start ? MPI_Start(requests.data())
                                                 : MPI_Startall(static_cast<int>(requests.size()), requests.data()));
}

}  // namespace manynode::bridge
