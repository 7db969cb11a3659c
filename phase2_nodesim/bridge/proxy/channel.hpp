// The proxy's end of the FIFOs to its guest, the rank's byte in the state file, and the guest's helper thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../wire.h"

namespace manynode::bridge {

// A buffer whose content others provide.
struct Bytes {
  std::unique_ptr<char[]> at;
  std::size_t size{0};

  Bytes() = default;
  explicit Bytes(std::size_t bytes) : at(std::make_unique_for_overwrite<char[]>(bytes ? bytes : 1)), size(bytes) {}
};

struct Request {
  mb_header header{};
  std::string notes;
  std::vector<std::int64_t> list;
  Bytes payload;

  std::int64_t word(int index) const { return header.word[index]; }
};

struct Reply {
  mb_header header{};
  std::vector<std::int64_t> list;
  std::vector<std::span<const char>> payload;

  void add(const char* at, std::size_t bytes) { payload.emplace_back(at, bytes); }
};

// The guest has ended without MPI_Finalize, or uses another protocol.
struct GuestLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// This rank's byte for the idle gate of the simulator: only RUNNING needs the simulated cores.
class StateByte {
 public:
  StateByte(const std::string& path, int index);
  void set(mb_state state);

 private:
  volatile unsigned char* byte_;
};

class Channel {
 public:
  // Opens the FIFOs before the guest, whose opening must never wait; removes their names once the guest is there.
  Channel(std::string directory, int rank, bool helper);

  Request next(StateByte& state);
  void answer(const Reply& reply);

  // Returns when the guest has ended.
  void watch_for_end() const;

  // One command to the helper thread; returns how many lines it touched.
  std::uint64_t helper(mb_helper_verb verb, std::int64_t request, std::uint64_t bytes);

 private:
  std::string path(const char* name) const;
  void connected();

  std::string directory_;
  int rank_;
  int request_{-1};
  int reply_{-1};
  int command_{-1};
  int done_{-1};
  bool connected_{false};
};

}  // namespace manynode::bridge
