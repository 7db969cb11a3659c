#include "channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace manynode::bridge {
namespace {

std::string reason(const std::string& what) { return what + ": " + std::strerror(errno); }

int open_or_throw(const std::string& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) {
    throw std::runtime_error(reason("cannot open " + path));
  }
  return file;
}

void read_exactly(int file, void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = read(file, at, bytes);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      throw GuestLost("its guest ended without MPI_Finalize");
    }
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

void write_all(int file, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = write(file, at, bytes);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      throw GuestLost("its guest ended without MPI_Finalize");
    }
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

// A file that is opened non-blocking, so that opening does not wait for the other side, is read and written blocking.
void set_blocking(int file) { fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK); }

// A FIFO to write into while its reader is not there yet: with a reading end of our own.
int open_to_write(const std::string& path) { return open_or_throw(path, O_RDWR); }

}  // namespace

StateByte::StateByte(const std::string& path, int index) {
  const int file = open_or_throw(path, O_RDWR);
  void* memory = mmap(nullptr, static_cast<std::size_t>(index) + 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) {
    throw std::runtime_error(reason("cannot map " + path));
  }
  byte_ = static_cast<volatile unsigned char*>(memory) + index;
}

void StateByte::set(mb_state state) { *byte_ = static_cast<unsigned char>(state); }

Channel::Channel(std::string directory, int rank, bool helper) : directory_(std::move(directory)), rank_(rank) {
  request_ = open_or_throw(path("request"), O_RDONLY | O_NONBLOCK);
  reply_ = open_to_write(path("reply"));
  if (helper) {
    command_ = open_to_write(path("helper-command"));
    done_ = open_or_throw(path("helper-done"), O_RDONLY | O_NONBLOCK);
  }
}

std::string Channel::path(const char* name) const { return directory_ + "/rank-" + std::to_string(rank_) + "." + name; }

// The guest is there: from now on, its end closes the FIFOs, and nobody else needs their names.
void Channel::connected() {
  connected_ = true;
  const int writing = open_or_throw(path("reply"), O_WRONLY);
  close(reply_);
  reply_ = writing;
  unlink(path("request").c_str());
  unlink(path("reply").c_str());
}

Request Channel::next(StateByte& state) {
  if (!connected_) {
    pollfd file{request_, POLLIN, 0};
    while (poll(&file, 1, -1) < 0 && errno == EINTR) {
    }
    set_blocking(request_);
    state.set(MB_STATE_RUNNING);
  }
  Request request;
  read_exactly(request_, &request.header, sizeof request.header);
  if (request.header.magic != MB_MAGIC || request.header.call >= MB_CALLS) {
    throw GuestLost("its guest speaks another version of the bridge; build the application again");
  }
  if (!connected_) {
    connected();
  }
  request.notes.resize(request.header.notes_bytes);
  read_exactly(request_, request.notes.data(), request.notes.size());
  request.list.resize(request.header.list_count);
  read_exactly(request_, request.list.data(), request.list.size() * sizeof(std::int64_t));
  request.payload = Bytes(request.header.payload_bytes);
  read_exactly(request_, request.payload.at.get(), request.payload.size);
  // Only now: until here the guest was writing.
  state.set(MB_STATE_WAITING);
  return request;
}

void Channel::answer(const Reply& reply) {
  mb_header header = reply.header;
  header.magic = MB_MAGIC;
  header.list_count = reply.list.size();
  header.payload_bytes = 0;
  for (const auto& piece : reply.payload) {
    header.payload_bytes += piece.size();
  }
  write_all(reply_, &header, sizeof header);
  write_all(reply_, reply.list.data(), reply.list.size() * sizeof(std::int64_t));
  for (const auto& piece : reply.payload) {
    write_all(reply_, piece.data(), piece.size());
  }
}

void Channel::watch_for_end() const {
  pollfd file{request_, 0, 0};
  while (poll(&file, 1, -1) < 0 || (file.revents & (POLLHUP | POLLERR)) == 0) {
  }
}

std::uint64_t Channel::helper(mb_helper_verb verb, std::int64_t request, std::uint64_t bytes) {
  const mb_helper_command command{MB_MAGIC, static_cast<std::uint32_t>(verb), request, bytes};
  write_all(command_, &command, sizeof command);
  // The helper thread opens its end after the reply to MPI_Init: reading before would find the end of the file.
  pollfd file{done_, POLLIN, 0};
  while (poll(&file, 1, -1) < 0 && errno == EINTR) {
  }
  set_blocking(done_);
  mb_helper_done done{};
  read_exactly(done_, &done, sizeof done);
  if (done.magic != MB_MAGIC || done.verb != command.verb) {
    throw GuestLost("the helper thread of its guest answered something else");
  }
  if (verb == MB_HELPER_STOP) {
    unlink(path("helper-command").c_str());
    unlink(path("helper-done").c_str());
  }
  return done.lines;
}

}  // namespace manynode::bridge
