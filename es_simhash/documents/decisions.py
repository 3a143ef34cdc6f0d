"""Decisions: what people have said of documents, which grouping obeys.

A decision is a line of JSON, in a file or in an index of its own:

``{"a": "7", "b": "9", "label": 0}``       these are different, so never in one group (1: the same, so in one)
``{"id": "7", "canonical": true}``         this stands for its group
``{"id": "7", "alone": true}``             this is in no group

It may say ``who`` decided, ``when`` and ``why``; and the ``index``, which for a pair in two indices is a list of both.
A later decision of the same person replaces an earlier one, and None as label, or false, withdraws it. What two people
say is never weighed: where they contradict each other, documents stay apart, and the conflict is named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import cached_property
from itertools import chain, product
from typing import Any, Literal, TypeAlias, get_args

from es_simhash._core.dates import timestamp
from es_simhash._core.json_codec import Json
from es_simhash.documents.sources import as_id
from es_simhash.errors import InputError
from es_simhash.scheme import mapping as notes

# A document by its index, which documents of files have not, and its id.
Key: TypeAlias = tuple[str, str]
Verdict: TypeAlias = Literal["same", "different", "canonical", "alone"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

# True and false are these numbers.
_LABELS: dict[Any, Verdict] = {1: "same", 0: "different"}
_NUMBERS: dict[Verdict, int] = {"same": 1, "different": 0}
# The verdicts on one document.
ON_ONE: tuple[Verdict, ...] = ("canonical", "alone")
# A reason, or a name, is read by people.
_MOST_CHARACTERS = 1000


@dataclass(frozen=True)
class Decision:
    """What somebody has said of one document, or of two; unless it ``holds``, it is withdrawn.

    >>> decision = Decision.between("7", "9", same=False, who="Mia")
    >>> decision.to_json()
    {'a': '7', 'b': '9', 'label': 0, 'who': 'Mia'}
    >>> Decision.of_json({"id": "7", "canonical": True}).verdict
    'canonical'
    """

    documents: tuple[Key, ...]
    verdict: Verdict
    holds: bool = True
    who: str = ""
    when: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        wanted = 1 if self.verdict in ON_ONE else 2
        if len(set(self.documents)) != wanted:
            raise InputError(f"A decision {self.verdict!r} needs {wanted} different ids. Correct {self.documents!r}.")
        if self.when and timestamp(self.when) is None:
            raise InputError(f"{self.when!r} is not when a decision was made. Write it as 2026-03-01T10:00:00Z.")
        for name in ("who", "why"):
            if len(getattr(self, name)) > _MOST_CHARACTERS:
                raise InputError(f"The {name!r} of a decision has over {_MOST_CHARACTERS:,} characters. Shorten it.")
        object.__setattr__(self, "documents", tuple(sorted(self.documents)))

    @classmethod
    def between(
        cls, a: str | Key, b: str | Key, *, same: bool, who: str = "", when: str = "", why: str = ""
    ) -> Decision:
        """Decide that two documents are duplicates, or not; a document is an id, or an index and an id.

        >>> Decision.between(("news", "7"), ("news", "9"), same=True).to_json()["label"]
        1
        """
        return cls((_key(a), _key(b)), "same" if same else "different", who=who, when=when, why=why)

    @classmethod
    def about(cls, document: str | Key, verdict: Verdict, who: str = "", when: str = "", why: str = "") -> Decision:
        """Decide that one document is ``canonical``, or ``alone``.

        >>> Decision.about("7", "alone").to_json()
        {'id': '7', 'alone': True}
        """
        return cls((_key(document),), verdict, who=who, when=when, why=why)

    @classmethod
    def of_json(cls, record: Json) -> Decision:
        """Read a decision from its form.

        >>> Decision.of_json({"a": "7", "b": "9", "label": None}).holds
        False
        """
        said = {name: _text(record, name) for name in ("who", "when", "why")}
        if "a" in record and "b" in record and "label" in record:
            label = record["label"]
            if label is not None and (not isinstance(label, int) or label not in _LABELS):
                raise InputError(f"The label {label!r} is none of 1 (same), 0 (different) and null (withdrawn).")
            keys = tuple(zip(_indices(record, 2), (_id(record, "a"), _id(record, "b")), strict=True))
            return cls(keys, _LABELS.get(label, "same"), label is not None, **said)
        found = [verdict for verdict in ON_ONE if verdict in record]
        if "id" in record and len(found) == 1 and isinstance(record[found[0]], bool):
            keys = tuple(zip(_indices(record, 1), (_id(record, "id"),), strict=True))
            return cls(keys, found[0], record[found[0]], **said)
        raise InputError(
            f'{record!r} is not a decision. Write {{"a": ID, "b": ID, "label": 0 or 1}}, '
            '{"id": ID, "canonical": true} or {"id": ID, "alone": true}.'
        )

    def to_json(self) -> Json:
        """Return its form.

        >>> Decision.between("7", "9", same=False, why="Two quarters.").to_json()
        {'a': '7', 'b': '9', 'label': 0, 'why': 'Two quarters.'}
        """
        indices, ids = [index for index, _ in self.documents], [id_ for _, id_ in self.documents]
        if self.verdict in ON_ONE:
            found: Json = {"id": ids[0], self.verdict: self.holds}
        else:
            found = {"a": ids[0], "b": ids[1], "label": _NUMBERS[self.verdict] if self.holds else None}
        if any(indices):
            found["index"] = indices[0] if len(set(indices)) == 1 else indices
        return found | {name: value for name in ("who", "when", "why") if (value := getattr(self, name))}

    def withdrawn(self) -> Decision:
        """Return the decision that takes this one back.

        >>> Decision.between("7", "9", same=True).withdrawn().to_json()["label"] is None
        True
        """
        return Decision(self.documents, self.verdict, False, self.who)

    @property
    def sentence(self) -> str:
        """The decision in words: who decided it, when and why.

        >>> Decision.between("7", "9", same=False, who="Mia", why="Two quarters.").sentence
        "Mia decided that '7' and '9' are different: Two quarters."
        """
        date = f" on {self.when[:10]}" if self.when else ""
        who = f"{self.who} decided" if self.who else "It was decided"
        return f"{who}{date} that {self.claim}" + (f": {self.why}" if self.why else ".")

    @property
    def claim(self) -> str:
        """What it says of its documents.

        >>> Decision.about("7", "alone").claim
        "'7' is in no group"
        """
        about = {"canonical": "stands for its group", "alone": "is in no group", "same": "are the same"}
        return f"{_named(self.documents)} {about.get(self.verdict, 'are different')}"

    @property
    def subject(self) -> tuple[tuple[Key, ...], str]:
        """What it is about: one person's later decision on it replaces the earlier one."""
        return self.documents, self.verdict if self.verdict in ON_ONE else "pair"


def now() -> str:
    """Return the time as a decision says it.

    >>> len(now())
    20
    """
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Decided:
    """The result of many decisions, in the order in which they were made.

    ``same`` and ``different`` are pairs, ``canonical`` and ``alone`` documents. ``mentioned`` are all documents, those
    of withdrawn decisions among them. It is true if there are any decisions.

    >>> decided = Decided([Decision.between("7", "9", same=True), Decision.between("7", "9", same=False, who="Mia")])
    >>> decided.same, decided.different
    ([], [(('', '7'), ('', '9'))])
    >>> decided.conflicts
    ["'7' and '9' are the same, and different (Mia)."]
    """

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        latest: dict[tuple[Any, str], Decision] = {}
        for each in decisions:
            latest.pop((each.subject, each.who), None)
            latest[each.subject, each.who] = each
        self.decisions = list(latest.values())
        self.mentioned = {key for each in self.decisions for key in each.documents}
        self._held: dict[Verdict, dict[tuple[Key, ...], list[str]]] = {verdict: {} for verdict in VERDICTS}
        for each in self.decisions:
            if each.holds:
                self._held[each.verdict].setdefault(each.documents, []).append(each.who)
        self.different = list(self._held["different"])
        self.same = [pair for pair in self._held["same"] if pair not in self._held["different"]]
        self.canonical = {key for (key,) in self._held["canonical"]}
        self.alone = {key for (key,) in self._held["alone"]}

    def __bool__(self) -> bool:
        """Return whether there are decisions; all may be withdrawn."""
        return bool(self.decisions)

    def __len__(self) -> int:
        """Return the number of decisions that hold."""
        return sum(each.holds for each in self.decisions)

    def others(self, verdict: Literal["same", "different"], key: Key) -> Set[Key]:
        """Return the documents that are decided to be the same as one, or different from it.

        >>> Decided([Decision.between("7", "9", same=True)]).others("same", ("", "9"))
        {('', '7')}
        """
        return self._others[verdict].get(key, frozenset())

    @cached_property
    def _others(self) -> Mapping[str, Mapping[Key, set[Key]]]:
        found: dict[str, dict[Key, set[Key]]] = {"same": defaultdict(set), "different": defaultdict(set)}
        for verdict, (a, b) in chain(product(["same"], self.same), product(["different"], self.different)):
            found[verdict][a].add(b)
            found[verdict][b].add(a)
        return found

    def are_apart(self, key: Key, other: Key) -> bool:
        """Return whether two documents cannot be in one group.

        >>> Decided([Decision.about("7", "alone")]).are_apart(("", "7"), ("", "9"))
        True
        """
        return tuple(sorted((key, other))) in self._held["different"] or not self.alone.isdisjoint((key, other))

    def on(self, key: Key, other: Key) -> list[Decision]:
        """Return the decisions that hold on a pair, or on one of its documents.

        >>> len(Decided([Decision.between("7", "9", same=True)]).on(("", "9"), ("", "7")))
        1
        """
        wanted = {tuple(sorted((key, other))), (key,), (other,)}
        return [each for each in self.decisions if each.holds and each.documents in wanted]

    @cached_property
    def conflicts(self) -> list[str]:
        """A sentence for each contradiction; in all of them documents stay apart."""
        return list(self._conflicts())

    def _conflicts(self) -> Iterator[str]:
        same, different = self._held["same"], self._held["different"]
        for pair in same.keys() & different.keys():
            yield f"{_named(pair)} are the same{_by(same[pair])}, and different{_by(different[pair])}."
        firsts = _connected(self.same)
        for pair in different.keys() - same.keys():
            a, b = (firsts.get(key) for key in pair)
            if a is not None and a == b:
                who = _by(different[pair])
                yield f"{_named(pair)} are different{who}, but other decisions connect them."
        for pair in self.same:
            for key in pair:
                if key in self.alone:
                    who = _by(self._held["alone"][key,])
                    yield f"{_named(pair)} are the same{_by(same[pair])}, but {key[1]!r} is to be in no group{who}."


def index_of_decisions(prefix: str) -> str:
    """Return the name of the index in which decisions are kept.

    >>> index_of_decisions("dedup")
    'dedup-decisions'
    """
    return f"{prefix.lower()}-decisions"


@dataclass(frozen=True)
class DecisionsThere:
    """Where the decisions on the documents of some indices are: for each index, the name that they say for it."""

    index: str
    names: Mapping[str, str]

    def named(self, decision: Decision) -> Decision:
        """Return a decision with the names of indices as they are kept."""
        return replace(decision, documents=tuple((self.names[index], id_) for index, id_ in decision.documents))

    def renamed(self, decision: Decision) -> Iterable[Decision]:
        """Return a kept decision with the names of the indices of today: of each of several copies."""
        indices = [[index for index, name in self.names.items() if name == of] for of, _ in decision.documents]
        ids = [id_ for _, id_ in decision.documents]
        is_in_one = len({of for of, _ in decision.documents}) == 1
        for found in product(*indices):
            if not is_in_one or len(set(found)) == 1:
                yield replace(decision, documents=tuple(zip(found, ids, strict=True)))

    def keys_of(self, id: str | None, index: str | None) -> list[Key]:
        """Return the documents that an id, perhaps without an index, may name."""
        return [] if id is None else [(name, id) for name in self.names if index in (None, name)]

    def keys(self, documents: Iterable[Key]) -> list[str]:
        """Return how documents are named in what is kept."""
        return [f"{self.names[index]}/{id_}" for index, id_ in documents if index in self.names]


def decisions_note(prefix: str) -> str:
    """Return the name of the note that says where the decisions on an index are."""
    return f"_decided_{prefix}"


def decisions_there(mappings: Mapping[str, Json], prefix: str) -> DecisionsThere | None:
    """Return where decisions on the documents of these indices are; None if nothing was decided."""
    found = {name: notes.note(mapping, decisions_note(prefix)) for name, mapping in sorted(mappings.items())}
    names = {name: str(each["as"]) for name, each in found.items() if isinstance(each, dict)}
    return DecisionsThere(index_of_decisions(prefix), names) if names else None


def _connected(pairs: Iterable[tuple[Key, ...]]) -> Mapping[Key, Key]:
    """Return for each document of some pairs one that stands for all that pairs connect."""
    firsts: dict[Key, Key] = {}

    def first(key: Key) -> Key:
        while (other := firsts.setdefault(key, key)) != key:
            key = other
        return key

    for a, b in pairs:
        firsts[first(a)] = first(b)
    return {key: first(key) for key in firsts}


def _named(pair: Iterable[Key]) -> str:
    return " and ".join(repr(id_) for _, id_ in pair)


def _by(people: Iterable[str]) -> str:
    names = ", ".join(who for who in people if who)
    return f" ({names})" if names else ""


def _key(document: str | Key) -> Key:
    return ("", document) if isinstance(document, str) else document


def _id(record: Json, name: str) -> str:
    value = as_id(record[name])
    if value is None:
        raise InputError(f"The {name!r} of the decision {record!r} is not an id. Give a string or a whole number.")
    return value


def _indices(record: Json, count: int) -> list[str]:
    found = record.get("index") or ""
    indices = found if isinstance(found, list) else [found] * count
    if len(indices) != count or not all(isinstance(each, str) for each in indices):
        raise InputError(f"The index of the decision {record!r} is not a name, nor a list with a name for each id.")
    return indices


def _text(record: Json, name: str) -> str:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(f"The {name!r} of the decision {record!r} is not a string.")
    return value or ""
