"""What a paper's room says of itself: its room.yaml, the same for our papers and for a plug-in's."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from tensorldp.errors import InputError
from tensorldp_papers.room_folders import ROOM, room_files
from tensorldp_papers.strict import Strict, explain, first_problem, read_yaml

Colour = Annotated[str, Field(pattern="^#[0-9a-f]{6}$")]
RESOLVERS = {"doi": "https://doi.org/", "arXiv": "https://arxiv.org/abs/"}


class Paper(Strict):
    """A source, as `docs/references.bib` has it."""

    short: str = Field(description="the name by which code and figures call it")
    title: str = ""
    authors: list[str] = Field(default_factory=list, description='in the order of the source, "First Last" each')
    year: int = 0
    venue: str = Field("", description="journal, archive or occasion")
    identifier: str = Field("", description="its DOI or archive number, such as arXiv:2502.18227")
    citation: str = Field("", description="its key in docs/references.bib")

    @property
    def reference(self) -> str:
        """Authors, title, venue, year and identifier in one line; empty where nothing is known."""
        if not self.title:
            return ""
        parts = (f"{', '.join(self.authors)}: {self.title}. {self.venue}", str(self.year), self.identifier)
        return ", ".join(filter(None, parts))

    @property
    def address(self) -> str:
        """Returns where the source is on the web; empty where it has no DOI and no archive number."""
        kind, _, number = self.identifier.partition(":")
        return RESOLVERS[kind] + number if kind in RESOLVERS else ""


class Table(Strict):
    """A table of results/tables."""

    title: str
    caption: str
    function: str = Field("", description="module.function of the room that computes it; empty: a notebook does")
    reads: str = Field("", description="the study whose metrics the function takes; empty: it takes nothing")
    always: bool = Field(False, description="whether it is made without a study of its room, too")


class Picture(Strict):
    """A drawing of the report that is no study's own."""

    section: Literal["first", "privacy"] = Field(description="where it stands; what is about privacy is always drawn")
    study: str = Field(description="whose runs it draws")
    title: str
    caption: str


class FirstPicture(Strict):
    """A mechanism at an epsilon that its paper prints: a row of the picture that the report begins with."""

    place: float = Field(description="which row it is")
    name: str = Field(description="in the picture")
    study: str
    mechanism: str
    printed: float = Field(description="the epsilon, or the next that the study ran")
    factors: dict[str, str] = Field(default_factory=dict, description="that its variant has")
    metric: str = Field("accuracy", description="the accuracy that is shown")
    of: str = Field("an image", description="what is protected")
    note: str = Field("", description="a sentence that the picture needs with this row")


class Runs(Strict):
    """What the paper says of its runs, and what a network without knowledge scores there."""

    studies: list[str]
    dataset: str
    network: str = Field("", description="only for this one, where the paper has several")
    networks: list[str] = Field(
        default_factory=list,
        description="the names, or their beginnings, that its network has here; empty where any will do",
    )
    records: int = Field(0, description="its training records; 0 where it does not say")
    least: dict[str, int] = Field(default_factory=dict, description="training settings with the least that it has")
    largest: float = Field(0.0, description="the score of one who knows only the largest class; 0 if no claim needs it")
    luck: float = Field(0.0, description="what chance may add to it")

    @property
    def chance(self) -> float:
        """Returns a score that a network that learned nothing does not exceed; 0 where no claim needs it."""
        return self.largest + self.luck


class Instead(Strict):
    """Something of ours that stands for the paper's in some of its cells."""

    kind: str = Field(description="a word for it")
    words: str = Field(description='such as "digits in the place of faces"')
    studies: list[str]
    datasets: list[str] = Field(default_factory=list, description="where it is so; empty: everywhere")
    private: bool = Field(False, description="whether only in private cells")
    unless: str = Field("", description="a factor whose cells have the paper's own")
    untrained: bool = Field(False, description="whether only with extractors that were not trained on the records")
    weaker: bool = Field(True, description="whether it makes runs weaker, and is not only another setting")


class Room(Strict):
    """A room.yaml. Names are shown in figures and on pages; what has none is shown by its key."""

    paper: str = Field(description="the source of its claims, and its section of the report")
    place: float = Field(100.0, description="which room comes first in the report, in names and in colours")
    claims_place: float = Field(100.0, description="whose claims come first in their table")
    source: Paper | None = Field(None, description="the paper; empty where a room has none")
    methods: list[str] = Field(default_factory=list, description="that settings.py registers, in a room of ours")
    studies: dict[str, str] = Field(default_factory=dict, description="study: its name, in their order")
    proposed: list[str] = Field(default_factory=list, description="mechanisms of the paper, its main one first")
    unit: str = Field("record", description="what the epsilons that the paper prints are of")
    colours: dict[str, Colour] = Field(default_factory=dict, description="mechanism: its colour, of contrast 4.5")
    dark: dict[Colour, Colour] = Field(default_factory=dict, description="colour: what it is on a dark page")
    networks: dict[str, str] = Field(default_factory=dict, description="network: its name")
    factors: dict[str, str] = Field(default_factory=dict, description="factor, or factor=value: in words")
    apart: dict[str, str] = Field(
        default_factory=dict, description="factor=value that main figures leave out: what it is, in words"
    )
    tables: dict[str, Table] = Field(default_factory=dict)
    pictures: dict[str, Picture] = Field(default_factory=dict, description="beside those of its studies")
    first_picture: list[FirstPicture] = Field(default_factory=list)
    findings: bool = Field(False, description="whether figures.py has a function of this name, see `plots.finding`")
    runs: list[Runs] = Field(default_factory=list)
    instead: list[Instead] = Field(default_factory=list)
    module: str = Field("", exclude=True)
    folder: Path = Field(Path(), exclude=True)

    @property
    def short(self) -> str:
        """Returns the short name of its paper."""
        return self.source.short if self.source else self.paper

    def code(self, name: str) -> Any:
        """Returns module.function of the room."""
        module, _, function = name.rpartition(".")
        return getattr(import_module(f"{self.module}.{module}"), function)


PARTS: dict[str, type[Strict]] = {
    **{"source": Paper, "tables": Table, "pictures": Picture, "first_picture": FirstPicture},
    **{"runs": Runs, "instead": Instead},
}
OURS = ("module", "folder")  # of no room.yaml


def rooms() -> tuple[Room, ...]:
    """Returns all rooms that have a room.yaml, in the order of their places.

    Raises:
        InputError: if one is not valid, or two have one paper.
    """
    return _read(tuple(room_files("room.yaml").items()))


@cache
def _read(files: tuple[tuple[str, Path], ...]) -> tuple[Room, ...]:
    found: dict[str, Room] = {}
    for module, path in files:
        room = _room(module, path)
        if room.paper in found:
            raise InputError(f"{path}: paper = {room.paper!r} is that of {found[room.paper].folder / ROOM}, too")
        found[room.paper] = room
    return tuple(sorted(found.values(), key=lambda room: room.place))


def _room(module: str, path: Path) -> Room:
    raw = read_yaml(path, "the room file")
    if not isinstance(raw, dict):
        raise InputError(f"the room file {path} must have keys with values, such as paper")
    try:
        room = Room.model_validate({**raw, "module": module, "folder": path.parent})
    except ValidationError as error:
        place = first_problem(error)["loc"]
        known = PARTS.get(str(place[0]), Room) if len(place) > 1 else Room
        raise explain(error, str(path), {key: None for key in known.model_fields if key not in OURS}) from None
    for study in room.studies:
        if not (path.parent / f"{study}.yaml").is_file():
            raise InputError(f"{path}: studies has {study}, but {study}.yaml is not beside it")
    return room


def proposer(mechanisms: Iterable[str]) -> Room | None:
    """Returns the first room whose paper proposes one of these mechanisms."""
    names = set(mechanisms)
    return next((room for room in rooms() if not names.isdisjoint(room.proposed)), None)


def room_of(name: str) -> Room | None:
    """Returns the room of a study or of a table, by the lists of rooms; None where none has it."""
    return next((room for room in rooms() if name in room.studies or name in room.tables), None)


def paper_of(name: str) -> str:
    """Returns the key of the paper that a study or a table belongs to; empty where no room lists it."""
    return room.paper if (room := room_of(name)) else ""


def named(
    kind: Literal["studies", "colours", "dark", "networks", "factors", "apart", "tables", "pictures"],
) -> dict[str, Any]:
    """Returns what all rooms say of one kind, in their order."""
    return {key: value for room in rooms() for key, value in getattr(room, kind).items()}


def first_picture() -> list[FirstPicture]:
    """Returns the rows of the picture that the report begins with, in their order."""
    return sorted((row for room in rooms() for row in room.first_picture), key=lambda row: row.place)


def papers() -> dict[str, Paper]:
    """Returns the papers of the rooms by key, in their order."""
    return {room.paper: room.source for room in rooms() if room.source}


def paper(key: str) -> Paper:
    """Returns the paper of a key; one that is not known is its own short name, without a title.

    Args:
        key: as in a study's `paper`, such as "tldp".
    """
    return papers().get(key) or Paper(short=key)
