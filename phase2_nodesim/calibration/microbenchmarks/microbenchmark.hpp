// A microbenchmark measures one property of a core or of the memory below it.
//
// One .cpp file here is one microbenchmark; it registers itself under a name with `const Registration`. The contract:
//
// - `run` is called by each worker (a pinned thread of this process, or a rank of an MPI job: workers.hpp). It makes
// its
//   data, touches it as the timed part will, calls region_begin(), does `operations` operations, and calls
//   region_end(). What an operation is, the comment at the top of the file says.
// - The number of operations, the addresses and the branches depend on the parameters alone: not on time, on the host
// or
//   on other workers. The same run therefore has the same counts natively and inside a simulator.
// - No call of a library is inside the region. Its data is the worker's own.
// - Instructions are those of the first x86-64 processors, except in functions that are chosen by a parameter.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace manynode::calibration {

// A whole number, or one of `choices`, whose value is its place in the list.
struct Parameter {
  std::string name;
  std::int64_t standard;
  std::int64_t least;
  std::int64_t most;
  std::string description;
  std::vector<std::string> choices{};
};

class Values {
 public:
  explicit Values(std::map<std::string, std::int64_t, std::less<>> values) : values_(std::move(values)) {}
  std::int64_t operator[](std::string_view name) const { return values_.find(name)->second; }

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
};

struct Worker {
  int index;
  int count;
};

struct Measured {
  std::int64_t operations;           // of one worker, in the region
  double seconds;                    // of this worker
  std::uint64_t check;               // a number that every correct run with these parameters has
  std::int64_t large_page_bytes{0};  // memory in large pages, where the benchmark asked for them
};

struct Microbenchmark {
  std::string name;
  std::string description;
  std::vector<Parameter> parameters;
  Measured (*run)(const Values& values, const Worker& worker);
};

// Every microbenchmark by its name.
std::map<std::string, Microbenchmark, std::less<>>& microbenchmarks();

struct Registration {
  explicit Registration(Microbenchmark benchmark) {
    std::string name = benchmark.name;
    microbenchmarks().emplace(std::move(name), std::move(benchmark));
  }
};

inline Parameter operations(std::int64_t standard) {
  return {"operations", standard, 1, std::int64_t{1} << 40, "operations of each worker in the timed region"};
}

// Hides a value from the compiler at this place: it must be computed before, and is unknown after. Costs no
// instruction.
inline void opaque(std::uint64_t& value) { asm volatile("" : "+r"(value)); }
#if defined(__x86_64__)
inline void opaque(double& value) { asm volatile("" : "+x"(value)); }
#else
inline void opaque(double& value) { asm volatile("" : "+w"(value)); }
#endif

}  // namespace manynode::calibration
