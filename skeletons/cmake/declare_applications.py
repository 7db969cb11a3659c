"""Writes the C++ declarations of applications: for each folder, its phases and the table of its parameters.

In: folders with an application.yaml, read as the command line reads them (manynode.config.application). Out: a header
``NAME.hpp`` for each, in the folder of the stamp file, which is written last. A mistake in an application.yaml ends
the build with a message. Usage: declare_applications.py STAMP FOLDER...
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from manynode.config.application import ApplicationDescription, Parameter, read_folder
from manynode.errors import InputError, ManynodeError

_NO_BOUND = "std::numeric_limits<double>::infinity()"


def header(description: ApplicationDescription) -> str:
    """Return the text of the header of one application."""
    parameters = "".join(_entry(name, parameter) for name, parameter in description.parameters.items())
    table = f"  static const ParameterDeclaration declarations[] = {{\n{parameters}  }};\n  return declarations;"
    return f"""\
// Written by the build from skeletons/{description.name}/application.yaml.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "manynode/parameters.hpp"

namespace manynode {{
class Application;
}}

namespace manynode::{description.name} {{

// Defined by the application, in skeleton.cpp.
std::unique_ptr<Application> create(const Parameters& parameters, int ranks);

inline constexpr char kName[] = {_text(description.name)};
{_phases(description.phases)}
inline std::span<const ParameterDeclaration> parameter_declarations() {{
{table if parameters else "  return {};"}
}}

}}  // namespace manynode::{description.name}
"""


def _phases(phases: Collection[str]) -> str:
    if not phases:
        return ""
    enumerators = ", ".join(map(enumerator, phases))
    names = ", ".join(map(_text, phases))
    return f"""
// The compute phases between MPI calls, in the order of application.yaml.
enum class Work : std::uint8_t {{ {enumerators} }};

inline constexpr std::array<const char*, {len(phases)}> kWorkNames = {{{names}}};

constexpr const char* work_name(Work work) {{ return kWorkNames[static_cast<std::size_t>(work)]; }}
"""


def enumerator(phase: str) -> str:
    """Return the enumerator of a phase: inner_change -> InnerChange."""
    return "".join(word[0].upper() + word[1:] for word in re.split("[-_]+", phase) if word)


def _entry(name: str, parameter: Parameter) -> str:
    default = parameter.default
    if parameter.type == "str":
        value = f"std::string({_text(str(default))})"
    elif parameter.type == "bool":
        value = "true" if default else "false"
    elif parameter.type == "int":
        value = f"std::int64_t{{{default}}}"
    else:
        value = f"double{{{_number(default)}}}"
    minimum = f"-{_NO_BOUND}" if parameter.minimum is None else _number(parameter.minimum)
    maximum = _NO_BOUND if parameter.maximum is None else _number(parameter.maximum)
    multiple = parameter.multiple_of or 1
    return f"      {{{_text(name)}, {value}, {_text(parameter.description)}, {minimum}, {maximum}, {multiple}}},\n"


def _number(value: object) -> str:
    return repr(float(str(value)))


def _text(text: str) -> str:
    """Return a C++ string literal; JSON's escapes are C++'s, except for characters beyond ASCII."""
    return json.dumps(text, ensure_ascii=False)


def _check(description: ApplicationDescription, folder: Path) -> None:
    seen: dict[str, str] = {}
    for phase in description.phases:
        other = seen.setdefault(enumerator(phase), phase)
        if other != phase:
            raise InputError(
                "two phases have the same name in C++",
                where=str(folder / "application.yaml"),
                found=f"{other}, {phase}",
                remedy="rename one of them",
            )


def main(stamp: Path, folders: list[Path]) -> int:
    """Write the headers and the stamp; return an exit code."""
    try:
        for folder in folders:
            description = read_folder(folder)
            _check(description, folder)
            path = stamp.parent / f"{description.name}.hpp"
            text = header(description)
            # An unchanged header keeps its date, and what includes it is not compiled again.
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
    except ManynodeError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    stamp.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), [Path(folder) for folder in sys.argv[2:]]))
