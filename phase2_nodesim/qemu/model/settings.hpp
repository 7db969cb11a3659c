// The node as plain numbers. Times are stamps (see stamp.hpp), sizes are counts of lines or entries.
#pragma once

#include <cstdint>

#include "stamp.hpp"

namespace manynode::node {

enum class Predictor { kGshare, kTage };
enum class Prefetch { kNone, kNextLine, kStride, kStream };
enum class Replacement { kLru, kRandom, kAdaptive };
enum class Inclusion { kInclusive, kVictim, kNeither };

struct CoreSettings {
  std::uint32_t width = 4;     // operations dispatched and retired per cycle
  double sustained_width = 0;  // of them on average; 0: the width
  std::uint32_t reorder_buffer = 224;
  std::uint32_t scheduler = 96;
  std::uint32_t load_queue = 84;  // loads from dispatch to retirement
  std::uint32_t store_queue = 56;
  std::uint32_t integer_units = 4, load_ports = 2, store_ports = 1, float_units = 2;
  std::uint32_t vector_load_ports = 2, vector_store_ports = 1;  // of these ports
  std::uint32_t float_add_units = 0;  // for additions and comparisons alone; 0: float_units do them
  double float_issue = 2;             // floating-point operations of all kinds per cycle
  // cycles
  std::uint32_t multiply_latency = 3, divide_latency = 24, divide_interval = 10;
  std::uint32_t float_latency = 4, float_add_latency = 4, float_divide_latency = 14, float_divide_interval = 5;
  double transfer_latency = 1;                             // between vector and general registers
  double vector_load_latency = 4;                          // from the first level
  double forward_latency = 4, vector_forward_latency = 4;  // from a store's data to that of a load of the same word
  std::uint32_t frontend_depth = 12;
  std::uint32_t fetch_bits = 0;  // code is fetched from one aligned block of 2^fetch_bits bytes a cycle; 0: no limit
  std::uint32_t vector_bytes = 32;
  Predictor predictor = Predictor::kTage;

  Stamp cycles(double count) const { return static_cast<Stamp>(count * width + 0.5) * kTick; }
};

struct CacheSettings {
  std::uint32_t sets = 64, ways = 8;
  double latency_cycles = 4;  // load to use
  Prefetch prefetch = Prefetch::kNone;
  double line_interval = 0;   // cycles from one line given to the level above to the next; 0: no limit
  double write_interval = 0;  // cycles in which a line comes back from the level above and none is given to it
  double line_fill = 0;       // cycles in which a line comes in and no load starts
};

struct TlbSettings {
  std::uint32_t sets = 16, ways = 4;
};

struct TranslationSettings {
  bool present = false;
  std::uint32_t page_bits = 12;
  TlbSettings code, data, second;
  double second_cycles = 7, walk_cycles = 10;
};

struct LastLevelSettings {
  std::uint32_t sets = 1024, ways = 16;
  double latency_cycles = 50;
  Replacement replacement = Replacement::kLru;
  Inclusion inclusion = Inclusion::kNeither;
  double line_interval = 0;  // of one core
  double others = 0;         // lines that other programs bring to it per cycle
};

struct MemorySettings {
  double latency_cycles = 200;
  double remote_cycles = 200;  // latency from another domain
  double line_cycles = 0;      // cycles of one domain per line at its bandwidth; 0: never short
  std::uint32_t channels = 1;  // of one domain
  bool injection_to_last_level = false;
};

struct NodeSettings {
  CoreSettings core;
  CacheSettings l1i, l1d, l2;
  bool has_l2 = true;
  std::uint32_t line_bits = 6;
  std::uint32_t fill_buffers = 10;     // first-level data misses in flight
  std::uint32_t l2_fill_buffers = 20;  // second-level misses in flight, prefetches among them
  TranslationSettings translation;
  LastLevelSettings last_level;
  MemorySettings memory;
  std::uint32_t slots = 1;           // cores in use: ranks of the node x threads
  std::uint32_t last_levels = 1;     // last-level caches in use
  std::uint32_t domains = 1;         // memory domains in use
  std::uint64_t quantum_cycles = 0;  // clocks of the cores stay within it; 0: each core for itself
  std::uint64_t seed = 1;            // of the physical frames
  bool frames_by_hash = true;        // false: physical addresses are the virtual ones (tests)
};

}  // namespace manynode::node
