// Compiled files of derived skeletons, for tests of the application `derived`.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "derived/digest.hpp"
#include "manynode/error_report.hpp"
#include "manynode/skeleton.hpp"
#include "sinks/streams.hpp"

namespace manynode::test {

// The parts of a file, in JSON; a test states what matters to it.
struct DerivedContent {
  std::string body{"[]"};
  std::string parameters{R"({"nx": 16, "n": 3})"};
  std::string grid{};
  std::string communicators{"[]"};
  std::string definitions{"[]"};
  std::string phases{R"(["work", "rest"])"};
  std::string sites{"[]"};
  std::string distributions{"{}"};
  std::string further{};  // keys
  std::string schema{"derived-program/1"};

  std::string text() const {
    return R"({"schema": ")" + schema + R"(", "name": "toy", "parameters": )" + parameters +
           (grid.empty() ? "" : ", \"grid\": " + grid) + ", \"communicators\": " + communicators +
           ", \"definitions\": " + definitions + ", \"phases\": " + phases + ", \"sites\": " + sites +
           ", \"distributions\": " + distributions + further + ", \"body\": " + body + "}";
  }
};

// A grid of a rule, with its defaults.
inline std::string grid_json(const std::string& rule, int dimensions, const std::string& order = "descending",
                             const std::string& layout = "last-fastest", const std::string& periodic = {}) {
  return R"({"rule": ")" + rule + R"(", "dimensions": )" + std::to_string(dimensions) + R"(, "order": ")" + order +
         R"(", "ties": "first", "layout": ")" + layout + "\"" +
         (periodic.empty() ? "" : ", \"periodic\": " + periodic) + "}";
}

class DerivedFile {
 public:
  explicit DerivedFile(const std::string& content) : digest_(derived::digest_of(content)) {
    static int number = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("derived-" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".json");
    std::ofstream(path_) << content;
  }
  ~DerivedFile() { std::filesystem::remove(path_); }
  DerivedFile(const DerivedFile&) = delete;
  DerivedFile& operator=(const DerivedFile&) = delete;

  std::string path() const { return path_.string(); }
  Parameters parameters(const std::string& values = "{}", std::int64_t seed = 1) const {
    return Parameters({{"file", path()}, {"digest", digest_}, {"values", values}, {"seed", seed}});
  }

 private:
  std::string digest_;
  std::filesystem::path path_;
};

inline std::unique_ptr<Application> derived_application(const DerivedContent& content, int ranks,
                                                        const std::string& values = "{}", std::int64_t seed = 1) {
  const DerivedFile file(content.text());
  return make_application("derived", file.parameters(values, seed), ranks);
}

// The text sink's lines of one rank, or of all if it is negative.
inline std::string text_of(const Application& application, int ranks, int rank = -1) {
  sinks::Selection selection;
  selection.application = &application;
  selection.size = ranks;
  for (int one = 0; one < ranks; ++one) {
    if (rank < 0 || one == rank) selection.ranks.push_back(one);
  }
  std::ostringstream out;
  sinks::print_text(selection, out);
  return out.str();
}

inline std::string derived_text(const DerivedContent& content, int ranks, int rank = -1,
                                const std::string& values = "{}") {
  return text_of(*derived_application(content, ranks, values), ranks, rank);
}

// What a UserError says: what, where, found, allowed, remedy.
template <typename Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const UserError& error) {
    return std::string(error.what()) + " | " + error.where + " | " + error.found + " | " + error.allowed + " | " +
           error.remedy;
  }
  return "no error";
}

}  // namespace manynode::test
