// Applications by name: those of the build's list and those that a program registers.
#include <algorithm>

#include "manynode/error_report.hpp"
#include "manynode/skeleton.hpp"
#include "nearest.hpp"

namespace manynode {

// Written by the build (applications.cpp.in): one entry for each application folder.
std::span<const ApplicationEntry> built_in_applications();

namespace {

// Within a function, so that it exists whichever object is constructed first.
std::vector<ApplicationEntry>& registered() {
  static std::vector<ApplicationEntry> entries(built_in_applications().begin(), built_in_applications().end());
  return entries;
}

const ApplicationEntry& find(const std::string& name) {
  for (const ApplicationEntry& entry : registered()) {
    if (name == entry.name) {
      return entry;
    }
  }
  const std::vector<std::string> names = application_names();
  throw UserError("unknown application", "application", name, joined(names), did_you_mean(name, names));
}

}  // namespace

ApplicationRegistration::ApplicationRegistration(const ApplicationEntry& entry) { registered().push_back(entry); }

std::vector<std::string> application_names() {
  std::vector<std::string> names;
  for (const ApplicationEntry& entry : registered()) {
    names.emplace_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::span<const ParameterDeclaration> application_parameters(const std::string& name) {
  const ApplicationEntry& entry = find(name);
  return entry.parameters ? entry.parameters() : std::span<const ParameterDeclaration>{};
}

std::unique_ptr<Application> make_application(const std::string& name, const Parameters& parameters, int size) {
  const ApplicationEntry& entry = find(name);
  if (size < 1) {
    throw UserError("wrong number of ranks", "ranks", std::to_string(size), "at least 1");
  }
  return entry.make(complete_parameters(name, parameters, application_parameters(name)), size);
}

}  // namespace manynode
