"""The content of a derived skeleton's file (``derived-skeleton/1``), with the checks of its form.

Expressions stay text here; :mod:`.skeleton_file` parses them and checks the names that they use.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from manynode.config.quantities import Section
from manynode.derived.arithmetic import LEAST, MOST
from manynode.derived.call_forms import CALL_FORMS, draws_blocks
from manynode.derived.expression import may_name
from manynode.derived.grids import DIMENSIONS, MOST_DIMENSIONS, RULES, Layout, Order, Ties
from manynode.errors import nearest

SCHEMA = "derived-skeleton/1"
WORLD = "world"

Integer = Annotated[int, Field(ge=LEAST, le=MOST)]
# Text, or a number as YAML reads it.
ExpressionText = str | Integer
Extent = Annotated[int, Field(ge=1, le=2**31 - 1)]
Label = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$")]


class Parameter(Section):
    """An integer parameter of the problem."""

    default: Integer = Field(description="Value used when none is given")
    recorded: list[Integer] = Field(default_factory=list, description="Values of the runs that were recorded")


class GridSection(Section):
    """How ranks are arranged in a grid."""

    rule: str | None = Field(default=None, description="Named rule: the extents as a function of the number of ranks")
    dimensions: Annotated[int, Field(ge=1, le=MOST_DIMENSIONS)] | None = Field(
        default=None, description="Number of axes; may be left out where `extents` has them"
    )
    order: Order = Field(default="descending", description="How the rule's extents are sorted, axis 0 first")
    ties: Ties = Field(default="first", description="Which of equal choices the rule takes")
    layout: Layout = Field(default="last-fastest", description="The axis that changes from one rank to the next")
    periodic: list[bool] | None = Field(default=None, description="Axes that wrap; default: none")
    extents: dict[Extent, list[Extent]] = Field(
        default_factory=dict, description="Extents stated by hand for numbers of ranks; they precede the rule"
    )

    @model_validator(mode="after")
    def _fits(self) -> GridSection:
        if self.rule is None and not self.extents:
            raise ValueError("a grid needs a 'rule' or 'extents'")
        if self.rule is not None and self.rule not in RULES:
            near = nearest(self.rule, RULES)
            hint = f"did you mean {near!r}?" if near else f"known: {', '.join(RULES)}"
            raise ValueError(f"rule: there is no {self.rule!r}; {hint}")
        if self.rule is not None and self.dimensions is None:
            raise ValueError("a grid with a 'rule' needs 'dimensions'")
        if self.rule in DIMENSIONS and self.axes != DIMENSIONS[self.rule]:
            raise ValueError(f"the rule {self.rule!r} has {DIMENSIONS[self.rule]} dimensions")
        for ranks, extents in self.extents.items():
            product = 1
            for extent in extents:
                product *= extent
            if product != ranks or len(extents) != self.axes:
                raise ValueError(f"extents: {ranks}: {extents} is no grid of {ranks} ranks in {self.axes} dimensions")
        if self.periodic is not None and len(self.periodic) != self.axes:
            raise ValueError(f"periodic: {len(self.periodic)} values for {self.axes} dimensions")
        return self

    @property
    def stated(self) -> dict[str, Any]:
        """The keys that differ from their defaults, as a file has them."""
        return self.model_dump(exclude_defaults=True)

    @property
    def axes(self) -> int:
        """Number of axes."""
        return self.dimensions if self.dimensions is not None else len(next(iter(self.extents.values())))


class ProgramSection(Section):
    """What was recorded: an experiment with the skeleton must run the same command with the same arguments."""

    command: list[str] = Field(default_factory=list, description="Program and arguments, with {nx} for a parameter nx")
    grid: GridSection | None = Field(default=None, description="Grid of the ranks that `command` names")
    inputs: dict[str, str] = Field(default_factory=dict, description="Input files by name, each with its digest")
    mpi: str = Field(default="", description="MPI library of the recorded runs")
    fixed: dict[str, int] = Field(
        default_factory=dict,
        description="Parameters in `command` and `inputs` that stay as recorded, with their values",
    )
    checksum: str = Field(default="", description="Of the file as it was written, which tells whether it was edited")

    @field_validator("command", mode="before")
    @classmethod
    def _numbers_are_words(cls, given: Any) -> Any:
        """A derivation writes arguments that are numbers without quotes."""
        return [str(word) if type(word) is int else word for word in given] if isinstance(given, list) else given


class CommunicatorSection(Section):
    """A communicator, made as MPI_Comm_split of the world makes it."""

    name: Label = Field(description="Name by which calls refer to it")
    color: ExpressionText = Field(description="Ranks of one color are together; below 0: no member")
    key: ExpressionText = Field(default="rank", description="Order of the members; ties go by rank")


class Distribution(Section):
    """Sizes that depend on the load of the run."""

    values: Annotated[list[Annotated[int, Field(ge=0, le=2**50)]], Field(min_length=1)] = Field(
        description="Equally likely sizes [bytes]"
    )
    mean: ExpressionText | None = Field(
        default=None,
        description="Mean size in a job [bytes], of P, extents of the grid and parameters: the values are scaled to it",
    )
    others: list[ExpressionText] = Field(
        default_factory=list, alias="or", description="Means that fit the recorded runs as well"
    )
    persistence: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.0, description="Probability that a size is that of the message before"
    )

    @model_validator(mode="after")
    def _scales(self) -> Distribution:
        if self.mean is not None and not any(self.values) and str(self.mean) != "0":
            raise ValueError("mean: sizes of 0 bytes have the mean 0")
        if self.others and self.mean is None:
            raise ValueError("or: only with 'mean'")
        return self


class Drawn(Section):
    """A size that is drawn from a distribution."""

    draw: str = Field(description="Name of the distribution")


class Item(Section):
    """One of: a compute phase, a call, a loop, a group, freed requests, a call that skeletons leave out (`site`)."""

    when: ExpressionText | None = Field(default=None, description="Happens where this is not 0")
    compute: str | None = Field(default=None, description="Name of the phase")
    call: str | None = Field(default=None, description="MPI's name of the call")
    site: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="Place of the call in the program, as its number in `sites`"
    )
    repeat: ExpressionText | None = Field(default=None, description="Number of times that `do` happens")
    index: str | None = Field(default=None, description="Name of the loop's counter, from 0")
    do: list[Item] | None = Field(default=None, description="Items of a loop or of a group")
    free: Annotated[list[Label], Field(min_length=1)] | None = Field(
        default=None, description="Names of requests: what is open of them completes by itself, and no wait takes it"
    )
    peer: ExpressionText | None = Field(default=None, description="World rank: destination, source or root")
    source: ExpressionText | None = Field(default=None, description="MPI_Sendrecv: world rank of the source")
    bytes: ExpressionText | Drawn | None = Field(default=None, description="Size, as a recording has it")
    receive_bytes: ExpressionText | Drawn | None = Field(default=None, description="MPI_Sendrecv; default: `bytes`")
    tag: ExpressionText | None = Field(default=None, description="Default 0; -1 is MPI_ANY_TAG")
    receive_tag: ExpressionText | None = Field(default=None, description="MPI_Sendrecv; default: `tag`")
    sent: ExpressionText | Drawn | None = Field(default=None, description="Bytes of block `k`")
    received: ExpressionText | Drawn | None = Field(default=None, description="Bytes of block `k`")
    sources: list[ExpressionText] | None = Field(default=None, description="Neighbours: world ranks")
    destinations: list[ExpressionText] | None = Field(default=None, description="Neighbours: world ranks")
    communicator: str | None = Field(default=None, description="Default: world")
    request: Label | None = Field(default=None, description="Name of the request that the call makes")
    requests: Annotated[list[Label], Field(min_length=1)] | None = Field(
        default=None, description="Names of the requests that a wait completes"
    )
    order: Literal["made", "names", "newest"] | None = Field(
        default=None, description="Order of completion: as made, by name as listed, the newest first"
    )
    take: ExpressionText | None = Field(default=None, description="How many a wait completes")
    each: bool | None = Field(
        default=None, description="MPI_Wait: a call for each open request, one after the other; maybe none"
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_a_peer(cls, given: Any) -> Any:
        """YAML reads ``null`` without quotes as nothing."""
        if not isinstance(given, dict):
            return given
        one = {key: "null" for key in ("peer", "source") if key in given and given[key] is None}
        lists = {
            key: ["null" if entry is None else entry for entry in given[key]]
            for key in ("sources", "destinations")
            if isinstance(given.get(key), list)
        }
        return given | one | lists

    @model_validator(mode="after")
    def _has_one_form(self) -> Item:
        forms = [name for name in ("compute", "call", "do", "free") if getattr(self, name) is not None]
        if not forms and self.site is not None:
            forms = ["site"]
        if len(forms) != 1:
            raise ValueError("an item has exactly one of 'compute', 'call', 'do' and 'free'")
        given = {name for name in Item.model_fields if getattr(self, name) is not None} - {"when", forms[0]}
        if self.call is not None:
            self._check_call(self.call, given - {"site"})
        else:
            allowed = {"repeat", "index"} if self.do is not None else set()
            for name in sorted(given - allowed):
                raise ValueError(f"{name}: not with '{forms[0]}'")
        if self.index is not None and self.repeat is None:
            raise ValueError("index: only with 'repeat'")
        return self

    def _check_call(self, name: str, given: set[str]) -> None:
        form = CALL_FORMS.get(name)
        if form is None:
            near = nearest(name, CALL_FORMS)
            hint = f"did you mean {near!r}?" if near else f"known: {', '.join(sorted(CALL_FORMS))}"
            raise ValueError(f"call: there is no {name!r}; {hint}")
        for field in form.required:
            if field not in given:
                raise ValueError(f"{field}: {name} needs this key")
        for field in sorted(given - set(form.fields)):
            raise ValueError(f"{field}: {name} has no such key; allowed: {', '.join(form.fields)}")
        if self.each and self.take is not None:
            raise ValueError("take: not with 'each', which completes all open requests")
        if isinstance(self.bytes, Drawn) and "tag" not in form.fields:
            raise ValueError("bytes: only sizes of messages between two ranks are drawn")
        drawn = [isinstance(blocks, Drawn) for blocks in (self.sent, self.received)]
        if any(drawn) and not (draws_blocks(name) and self.sent == self.received):
            raise ValueError("sent: drawn are the blocks of MPI_Alltoallv and MPI_Alltoallw, as those of 'received'")


Family = Literal[
    "constant", "ranks", "levels", "side", "share", "faces", "boxes", "level-boxes", "torus", "divided-faces",
    "divided-torus", "most-faces", "most-boxes", "most-level-boxes",
]  # fmt: skip


class Growth(Section):
    """How a mean over the ranks follows the number of ranks: constant + scale x family."""

    family: Family = Field(description="What it is proportional to")
    dimensions: Annotated[int, Field(ge=1, le=MOST_DIMENSIONS)] = Field(
        default=1, description="Of the grid with the least surface, where the family is of a grid"
    )
    width: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.0,
        description="Width of a part's halo as a share of the problem's extent, for `divided-faces` and "
        "`divided-torus`; the halo includes edges and corners. 0: the faces alone",
    )
    constant: Annotated[float, Field(ge=0)] = Field(default=0.0, description="Part that does not grow")
    scale: Annotated[float, Field(gt=0)] = Field(default=1.0, description="Factor of the family")


class RecordedRun(Section):
    """A recorded run that stands for larger jobs, and how these differ from copies of it."""

    ranks: Extent = Field(description="Number of ranks of the run")
    file: str = Field(description="Its stream (recorded-stream/2), a path relative to this file")
    digest: str = Field(description="Digest of the run")
    hubs: list[Annotated[int, Field(ge=0)]] = Field(
        default_factory=list, description="Ranks that exchange messages with all, in jobs of any size"
    )
    reach: Annotated[int, Field(ge=0)] = Field(
        description="Messages between ranks that are farther apart go farther in larger jobs"
    )
    messages: Growth = Field(description="Messages of a rank")
    peak: Growth = Field(description="Messages of the rank that has most")
    bytes: Growth = Field(description="Bytes of the messages that a rank sends")
    collectives: dict[str, Growth] = Field(default_factory=dict, description="Bytes of a call, by collective")
    exponents: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=list, description="By communicator: its members grow with this power of the number of ranks"
    )


class HeldOut(Section):
    """How far a job that was recorded is from what smaller runs say of it; relative."""

    ranks: Extent = Field(description="Number of ranks of the job")
    lifted: Extent = Field(alias="from", description="Number of ranks of the run that stood for it")
    volume: float = Field(description="Error of the bytes of all messages")
    messages: float = Field(description="Error of the number of messages")
    peers: float = Field(description="Error of the number of others that a rank sends messages to")
    makespan: float = Field(description="Error of the time without computation, on the engine fast")


class Approximate(Section):
    """Where no exact skeleton says what happens: recorded runs stand for larger jobs."""

    why: str = Field(description="Why there is no exact skeleton")
    only: list[Extent] | None = Field(
        default=None, description="Numbers of ranks of the jobs; `body` is for all others. Default: all jobs"
    )
    phases: list[str] = Field(default_factory=list, description="Compute phases of the recorded runs")
    runs: Annotated[list[RecordedRun], Field(min_length=1)] = Field(description="The recorded runs, by number of ranks")
    held_out: list[HeldOut] = Field(default_factory=list, description="Measured errors")


class Doubt(Section):
    """A choice of the derivation that the recorded runs do not settle."""

    at: str = Field(description="Place, such as body/5/do/0/when")
    says: str = Field(description="What the file has there")
    others: list[str] = Field(alias="or", description="What fits everything recorded as well")


class Assumption(Section):
    """What a user states where the recordings leave several hypotheses open."""

    at: str = Field(description="Field that it is about, such as `when`, or `grid`")
    says: str = Field(description="The hypothesis that holds")


class DerivedSkeleton(Section):
    """A derived skeleton's file."""

    # The key `schema` would hide a method of pydantic's models.
    written_schema: Literal["derived-skeleton/1"] = Field(alias="schema", description="Name and version of the form")
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")] = Field(description="Name of the program")
    program: ProgramSection = Field(default_factory=ProgramSection, description="What was recorded")
    parameters: dict[str, Parameter] = Field(default_factory=dict, description="Parameters of the problem by name")
    grid: GridSection | None = Field(default=None, description="Arrangement of the ranks; default: none")
    communicators: list[CommunicatorSection] = Field(default_factory=list, description="In the order of their making")
    definitions: dict[str, ExpressionText] = Field(
        default_factory=dict, description="Named expressions; each may use those before it"
    )
    phases: list[str] = Field(default_factory=list, description="Compute phases, by the names of the timing profile")
    sites: list[str] = Field(
        default_factory=list,
        description="Calls by their places in the program. What a rank computes between two of them without a named "
        "phase is the phase that they name together: SITE -> SITE",
    )
    distributions: dict[Label, Distribution] = Field(default_factory=dict, description="Of sizes that are drawn")
    body: list[Item] = Field(default_factory=list, description="What each rank does, in order")
    approximate: Approximate | None = Field(default=None, description="In place of `body`: recorded runs, lifted")
    doubts: list[Doubt] = Field(default_factory=list, description="What the recorded runs do not settle")
    recorded: list[dict[str, Any]] = Field(default_factory=list, description="Runs that it was derived from")
    assumptions: list[Assumption] = Field(default_factory=list, description="What was stated by hand")

    @field_validator("parameters", "definitions")
    @classmethod
    def _names_are_free(cls, given: dict[str, Any]) -> dict[str, Any]:
        for name in given:
            if not may_name(name):
                raise ValueError(f"{name!r} cannot be a name; use letters, digits and _, and none of the language")
        return given

    @model_validator(mode="after")
    def _has_calls(self) -> DerivedSkeleton:
        if self.approximate is None and "body" not in self.model_fields_set:
            raise ValueError("body: this key is missing")
        if self.approximate is not None and (self.approximate.only is None) == ("body" in self.model_fields_set):
            raise ValueError("approximate: 'only' and 'body' go together")
        return self

    @model_validator(mode="after")
    def _names_are_unique(self) -> DerivedSkeleton:
        both = sorted(self.parameters.keys() & self.definitions.keys())
        names = [communicator.name for communicator in self.communicators]
        twice = both or sorted({name for name in names if names.count(name) > 1 or name == WORLD})
        twice = twice or sorted({phase for phase in self.phases if self.phases.count(phase) > 1})
        if twice:
            raise ValueError(f"the name {twice[0]!r} is given twice")
        return self
