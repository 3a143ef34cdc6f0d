"""What the desk for review is about: the groups of a file or of an index, their texts, and the decisions on them.

Documents are grouped as if nobody had decided anything, so that what people say of pairs measures the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from es_simhash._core.json_codec import Json
from es_simhash.cli.desk.desk import Desk
from es_simhash.cli.jobs.file_ids import FileIds
from es_simhash.cli.jobs.file_texts import NamedFields, read_texts
from es_simhash.cli.jobs.groups_output import MemberFields
from es_simhash.cli.jobs.groups_report import fields_in_files
from es_simhash.cli.options.files import documents_in
from es_simhash.cli.show.output import Output
from es_simhash.documents.decisions import Decided, Decision, Key
from es_simhash.documents.files.decision_file import DecisionFile
from es_simhash.engines.base import run
from es_simhash.groups.groups import Member
from es_simhash.groups.of_texts import TextCorpus, group_texts
from es_simhash.groups.options import GroupOptions, as_asked
from es_simhash.plans.decided import decisions_in
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verdict.levels import Level

if TYPE_CHECKING:
    from es_simhash.groups.of_index.corpus import IndexCorpus
    from es_simhash.index import Index


@contextmanager
def desk_on_file(
    path: str,
    fields: Sequence[str],
    shown: Sequence[str],
    similarity: float | Level | None,
    decisions: DecisionFile,
    who: str,
    output: Output,
) -> Iterator[Desk]:
    """Group a file, and yield the desk for it."""
    ids, wanted = FileIds([path]), NamedFields(fields, shown=shown)

    def on_read(corpus: TextCorpus) -> None:
        output.warn(wanted.warning)
        output.warn(ids.give(corpus))

    def reject(rejected: object) -> None:
        output.warn(str(getattr(rejected, "reason", rejected)))

    with output.progress("Reading") as advance:
        read = read_texts(documents_in(path, output), fields, reject, wanted)
        documents = wanted.checked((each.key, text) for each, text in read)
        options = GroupOptions(similarity=similarity)
        grouped = group_texts(documents, Scheme.preset("default"), options, advance, on_read)
    with grouped as groups:
        again = (each for each, _ in read_texts(documents_in(path, output), fields, lambda _: None))
        parts = fields_in_files(groups, shown, again) if shown else None
        yield Desk(groups, _OfFile(groups.corpus, parts, decisions), path, who)


class _OfFile:
    """The documents of a file."""

    def __init__(self, corpus: TextCorpus, parts: MemberFields | None, decisions: DecisionFile) -> None:
        self._corpus, self._parts, self._decisions = corpus, parts, decisions

    def texts(self, positions: Sequence[int]) -> list[str]:
        return self._corpus.texts_at(positions)

    def parts(self, positions: Sequence[int]) -> list[Json]:
        if self._parts is None:
            return [{} for _ in positions]
        members = [Member(None, "", "", False, None, None, position=each) for each in positions]
        return [each or {} for each in self._parts.fetch(members)]

    def decided(self, documents: Sequence[Key]) -> Decided:
        return Decided(self._decisions.on(documents))

    def decide(self, decisions: list[Decision]) -> None:
        self._decisions.add(decisions)


@contextmanager
def desk_on_index(
    index: Index, shown: Sequence[str], similarity: float | Level | None, who: str, output: Output
) -> Iterator[Desk]:
    """Group an index as it was grouped last, and yield the desk for it."""
    from es_simhash.groups.of_index.corpus import group
    from es_simhash.groups.of_index.writing import last_run

    documents, engine = index.documents, index.engine
    given = {} if similarity is None else {"similarity": similarity}
    last = run(last_run(index.name, documents, given), engine)
    options = as_asked(last.asked, documents.fields, **given)
    with output.progress("Reading") as advance:
        grouped = group(engine, index.name, documents, options, advance, obeys=False)
    with grouped as groups:
        yield Desk(groups, _OfIndex(index, groups.corpus, shown), index.name, who)


class _OfIndex:
    """The documents of an index."""

    def __init__(self, index: Index, corpus: IndexCorpus, shown: Sequence[str]) -> None:
        self._index, self._corpus, self._shown = index, corpus, list(shown)
        self._documents = index.documents

    def texts(self, positions: Sequence[int]) -> list[str]:
        return list(map(self._documents.text_of, self._sources(positions, self._documents.fields)))

    def parts(self, positions: Sequence[int]) -> list[Json]:
        return self._sources(positions, self._shown) if self._shown else [{} for _ in positions]

    def _sources(self, positions: Sequence[int], names: Sequence[str]) -> list[Json]:
        return [(hit or {}).get("_source") or {} for hit in self._corpus.hits(positions, list(names))]

    def decided(self, documents: Sequence[Key]) -> Decided:
        return run(decisions_in(self._index.name, self._documents.prefix, documents), self._index.engine)

    def decide(self, decisions: list[Decision]) -> None:
        self._index.decide(decisions)
