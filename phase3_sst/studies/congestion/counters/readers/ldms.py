"""LDMS's CSV files, as its plugin ``store_csv`` writes them (manual page ``ldms-store_csv``, section "Store column
ordering", and ``ldms/src/store/store_csv.c`` of ovis-hpc/ldms).

The header is the first line or, with ``altheader``, a file beside it: NAME.HEADER, with rollover NAME.HEADER.EPOCH
beside NAME.EPOCH. It begins ``#Time,Time_usec,ProducerName``, then come the metrics in the sampler's order:
``component_id``, ``job_id`` and, of ``aries_mmr`` and ``aries_rtr_mmr``, ``aries_rtr_id`` (such as ``c0-0c0s0a0``) and
the counters by their Aries names. Time is seconds.microseconds, or milliseconds as ``Time_msec`` with
``time_format=1``. A store that is opened again writes its header again. With ``userdata`` each metric has two columns,
NAME.userdata and NAME.value.
"""

from __future__ import annotations

from pathlib import Path

from manynode.errors import InputError
from phase3_sst.studies.congestion.counters.cumulative import Samples
from phase3_sst.studies.congestion.counters.readers._wide import header_of, samples_of
from phase3_sst.studies.congestion.counters.readers.interface import readers, text_of


@readers.register("ldms")
class LdmsReader:
    """Reads the CSV files of store_csv."""

    def recognises(self, path: Path, head: str) -> bool:
        """Say whether the file has such a header, or one beside it."""
        return _is_header(head.lstrip()) or any(name.is_file() for name in _header_files(path))

    def read(self, path: Path) -> Samples:
        """Return the samples in a file of store_csv."""
        lines = [(number, line) for number, line in enumerate(text_of(path).splitlines(), 1) if line.strip()]
        beside = next((name for name in _header_files(path) if name.is_file()), None)
        if beside is None and not (lines and _is_header(lines[0][1])):
            raise InputError(
                "a file of LDMS has no header",
                where=str(path),
                found=f"first line: {lines[0][1][:60]!r}" if lines else "an empty file",
                allowed=f"#Time,Time_usec,ProducerName,... or a file {_header_files(path)[0].name} beside it",
            )
        header = text_of(beside).splitlines()[0] if beside is not None else lines[0][1]
        names = header_of(header)
        for number, line in lines:
            if _is_header(line) and header_of(line) != names:
                raise InputError(
                    "the metrics change within a file of LDMS",
                    where=f"{path}:{number}",
                    found="another header",
                    remedy="cut the file in two before this line",
                )
        data = [(number, line) for number, line in lines if not _is_header(line)]
        return samples_of(names, data, path.name)


def _is_header(line: str) -> bool:
    return line.lstrip('# "').startswith("Time") and "," in line.splitlines()[0]


def _header_files(path: Path) -> list[Path]:
    stem, dot, epoch = path.name.rpartition(".")
    rolled = [path.with_name(f"{stem}.HEADER.{epoch}")] if dot and epoch.isdigit() else []
    return [path.with_name(f"{path.name}.HEADER"), *rolled]
