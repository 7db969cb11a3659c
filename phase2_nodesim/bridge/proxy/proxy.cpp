#include "proxy.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "constants.hpp"

namespace manynode::bridge {

Markers::Markers()
    : init_(reinterpret_cast<Init>(dlsym(RTLD_DEFAULT, "manynode_markers_guest_init"))),
      call_(reinterpret_cast<Call>(dlsym(RTLD_DEFAULT, "manynode_markers_guest_call"))) {}

void Markers::init(const std::string& program, const mb_header& header) const {
  if (init_ != nullptr) {
    init_(program.c_str(), header.entry_ns, header.site, header.call == MB_Init_thread ? 1 : 0);
  }
}

void Markers::call(const mb_header& header) const {
  if (call_ != nullptr) {
    call_(header.exit_ns, header.entry_ns, header.site);
  }
}

int native_count(std::int64_t elements) {
  if (elements > std::numeric_limits<int>::max()) {
    throw std::runtime_error("a message of more than 2^31-1 elements of a basic datatype is not bridged");
  }
  return static_cast<int>(elements);
}

Proxy::Proxy(Settings settings, int rank, int size)
    : settings_(std::move(settings)),
      rank_(rank),
      size_(size),
      state_(settings_.directory + "/state", rank - settings_.first),
      channel_(settings_.directory, rank, settings_.inject == MB_INJECT_NIC) {
  communicators_.resize(MB_FIRST_COMM);
  communicators_[MB_COMM_WORLD].comm = MPI_COMM_WORLD;
  for (int i = 0; i < size; ++i) {
    communicators_[MB_COMM_WORLD].world_ranks.push_back(i);
  }
  communicators_[MB_COMM_WORLD].external = size > settings_.ranks;
  communicators_[MB_COMM_SELF].comm = MPI_COMM_SELF;
  communicators_[MB_COMM_SELF].world_ranks = {rank};
  state_.set(MB_STATE_READY);
}

void Proxy::serve() {
  begin(channel_.next(state_));
  while (!finished_) {
    Request request = channel_.next(state_);
    Reply reply;
    play_notes(request.notes);
    if (request.header.call < MB_Dims_create) {
      markers_.call(request.header);
    }
    if (request.header.call == MB_Finalize) {
      finish(request);
      continue;
    }
    dispatch(request, reply);
    answer(request, reply);
  }
}

void Proxy::begin(const Request& request) {
  if (request.header.call != MB_Init && request.header.call != MB_Init_thread) {
    throw GuestLost("its guest did not begin with MPI_Init");
  }
  markers_.init(settings_.program, request.header);
  char name[MPI_MAX_PROCESSOR_NAME + 1];
  char version[MPI_MAX_LIBRARY_VERSION_STRING + 1];
  int length = 0;
  MPI_Get_processor_name(name, &length);
  MPI_Get_library_version(version, &length);
  // The shim has room for so much.
  std::string texts = std::string(name).substr(0, 100);
  texts.push_back('\0');
  texts += std::string(version, std::strcspn(version, "\n")).substr(0, 400);
  texts.push_back('\0');
  Reply reply;
  reply.header.word[MB_I_RANK] = rank_;
  reply.header.word[MB_I_SIZE] = size_;
  reply.header.word[MB_I_INJECT] = settings_.inject;
  reply.add(texts.data(), texts.size());
  answer(request, reply);
}

void Proxy::finish(const Request& request) {
  if (settings_.inject == MB_INJECT_NIC) {
    state_.set(MB_STATE_RUNNING);
    channel_.helper(MB_HELPER_STOP, 0, 0);
    report_injected();
    state_.set(MB_STATE_WAITING);
  }
  MPI_Finalize();
  finished_ = true;
  Reply reply;
  reply.header.call = request.header.call;
  channel_.answer(reply);
  state_.set(MB_STATE_FINISHED);
}

void Proxy::answer(const Request& request, Reply& reply) {
  reply.header.call = request.header.call;
  // Before the reply: once it is there, the guest computes.
  state_.set(MB_STATE_RUNNING);
  channel_.answer(reply);
  for (const std::int64_t handle : completed_) {
    pending_.erase(handle);
  }
  completed_.clear();
  outgoing_ = Bytes();
}

void Proxy::play_notes(const std::string& notes) const {
  for (std::size_t at = 0; at < notes.size(); at += std::strlen(notes.c_str() + at) + 1) {
    const char* note = notes.c_str() + at;
    const int level = std::atoi(note);
    const char* name = std::strchr(note, ' ');
    if (level == 0) {
      MPI_Pcontrol(0);
    } else if (name != nullptr) {
      MPI_Pcontrol(level, name + 1);
    }
  }
}

void Proxy::dispatch(Request& request, Reply& reply) {
  const int call = request.header.call;
  if (call >= MB_Barrier && call <= MB_Iexscan) {
    collective(request, reply);
  } else if (call >= MB_Comm_dup && call <= MB_Cart_sub) {
    communicator(request, reply);
  } else if (call >= MB_Wait && call <= MB_Testsome) {
    wait(request, reply);
  } else {
    switch (call) {
      case MB_Abort:
        MPI_Abort(MPI_COMM_WORLD, static_cast<int>(request.word(0)));
        break;
      case MB_Send:
      case MB_Ssend:
      case MB_Rsend:
        send(request, reply);
        break;
      case MB_Recv:
        receive(request, reply);
        break;
      case MB_Sendrecv:
        sendrecv(request, reply);
        break;
      case MB_Sendrecv_replace:
        sendrecv_replace(request, reply);
        break;
      case MB_Probe:
      case MB_Iprobe:
        probe(request, reply);
        break;
      case MB_Isend:
      case MB_Issend:
      case MB_Irsend:
      case MB_Irecv:
      case MB_Send_init:
      case MB_Ssend_init:
      case MB_Rsend_init:
      case MB_Recv_init:
        post(request, reply);
        break;
      case MB_Start:
      case MB_Startall:
        start(request, reply);
        break;
      case MB_Request_free:
        request_free(request, reply);
        break;
      case MB_Dims_create:
        dims_create(request, reply);
        break;
      case MB_Comm_set_errhandler:
        MPI_Comm_set_errhandler(comm_of(request.word(0)).comm,
                                request.word(1) != 0 ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL);
        break;
      case MB_notes:
        break;
      default:
        throw GuestLost("its guest asked for something that a guest cannot ask for");
    }
  }
}

bool Proxy::is_external(std::int64_t comm, std::int64_t rank) {
  const Communicator& found = comm_of(comm);
  if (rank < 0 || rank >= static_cast<std::int64_t>(found.world_ranks.size())) {
    return false;
  }
  const int world_rank = found.world_ranks[static_cast<std::size_t>(rank)];
  return world_rank < settings_.first || world_rank >= settings_.first + settings_.ranks;
}

void Proxy::report_injected() const {
  if (settings_.report.empty()) {
    return;
  }
  std::ofstream file(settings_.report + "/injected-" + std::to_string(rank_) + ".txt");
  file << "read_lines " << read_lines_ << "\nwritten_lines " << written_lines_ << "\n";
}

void Proxy::inject_read(std::int64_t handle, std::size_t bytes, bool external) {
  if (settings_.inject != MB_INJECT_NIC || !external || bytes == 0) {
    return;
  }
  state_.set(MB_STATE_RUNNING);
  read_lines_ += channel_.helper(MB_HELPER_READ, handle, bytes);
  state_.set(MB_STATE_WAITING);
}

void Proxy::inject_write(std::int64_t handle, std::size_t bytes, bool external) {
  if (settings_.inject != MB_INJECT_NIC || !external || bytes == 0) {
    return;
  }
  state_.set(MB_STATE_RUNNING);
  written_lines_ += channel_.helper(MB_HELPER_WRITE, handle, bytes);
  state_.set(MB_STATE_WAITING);
}

}  // namespace manynode::bridge
