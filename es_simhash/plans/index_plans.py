"""All that can be done with one index, as plans; what they know of it is kept between them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.painless.stored_scripts import Stored, stored
from es_simhash.documents.sources import check_sources
from es_simhash.errors import AccessError, InputError, MappingError, TextError
from es_simhash.plans.closed_indices import check_open
from es_simhash.plans.find import find_many
from es_simhash.plans.find_options import FindRequest
from es_simhash.plans.init import Initialised, init
from es_simhash.plans.install_pipeline import (
    IngestPipeline,
    PipelineRemoved,
    install_pipeline,
    remove_pipeline,
    show_pipeline,
)
from es_simhash.plans.install_scripts import InstalledScripts, install_scripts, remove_scripts
from es_simhash.plans.open_index import ExpectedIndex, OpenedIndex, no_fields, open_index
from es_simhash.plans.operations import GetMappings, Plan
from es_simhash.plans.query_documents import QueryDocument, query_documents, query_documents_by_id
from es_simhash.plans.text_comparison import Rarity
from es_simhash.plans.text_fields import check_text_fields
from es_simhash.scheme.json_form import Functions
from es_simhash.scheme.mapping import DEFAULT_PREFIX
from es_simhash.scheme.rerank import Matches
from es_simhash.scheme.scheme import Scheme
from es_simhash.text.idf import IdfTable

if TYPE_CHECKING:
    from es_simhash.plans.explain.explanation import Explanation


class Known(TypedDict, total=False):
    """What the caller may know of an index (see `es_simhash.index.Index`).

    - ``scheme``: a `Scheme`, or the name of a preset; without it that of the index or, for a new one, "default".
    - ``fields``: the source fields with the texts, as dotted paths.
    - ``prefix``: the object that our fields lie in.
    - ``idf``: the table of weights, where the index's scheme has one.
    - ``functions``: the caller's own tokenizers and hash functions, by the names that the index's scheme gives them.
    """

    scheme: Scheme | str | None
    fields: Sequence[str] | None
    prefix: str
    idf: IdfTable | None
    functions: Functions | None


class IndexPlans:
    """The plans of one index, by its name."""

    def __init__(
        self,
        name: str,
        *,
        scheme: Scheme | str | None = None,
        fields: Sequence[str] | None = None,
        prefix: str = DEFAULT_PREFIX,
        idf: IdfTable | None = None,
        functions: Functions | None = None,
    ) -> None:
        self.name = name
        self._expected = ExpectedIndex(
            prefix,
            Scheme.preset(scheme) if isinstance(scheme, str) else scheme,
            None if fields is None else check_sources(fields),
            idf,
            functions,
        )
        self._opened: OpenedIndex | None = None
        self._preview: Documents | None = None
        self._rarity = Rarity()

    def init(self, create: Json | None, dry_run: bool) -> Plan[Initialised]:
        """Bring the fields into the index."""
        if not self._expected.fields:
            raise InputError(
                f"Fingerprints of the index {self.name!r} cannot be made of no field. "
                "Name the fields that its texts are in, as in Index(name, fields=['title', 'body'])."
            )
        self._opened = None
        documents = Documents(self._scheme, self._expected.fields, self._expected.prefix)
        return (yield from init(self.name, documents, create, dry_run))

    @property
    def _scheme(self) -> Scheme:
        """The scheme where the index says none."""
        return self._expected.scheme or Scheme.preset("default")

    def opened(self) -> Plan[OpenedIndex]:
        """How the documents are fingerprinted, as the index says; it is asked once."""
        if self._opened is None:
            self._opened = yield from open_index(self.name, self._expected)
        return self._opened

    def documents(self) -> Plan[Documents]:
        """The same, for whatever needs no fields in all indices behind the name."""
        return (yield from self.opened()).documents

    def documents_to_write(self) -> Plan[Documents]:
        """The same, where documents may come into any index behind the name."""
        opened = yield from self.opened()
        for name in opened.without_fields:
            raise no_fields(name, self._expected.prefix)
        return opened.documents

    @property
    def brings_fields(self) -> bool:
        """Whether the caller says which fields the texts are in, by which an index can be given ours."""
        return self._expected.fields is not None

    def wanted_documents(self) -> Plan[Documents]:
        """How the documents are to be fingerprinted: as the caller says, who may know it before the index does."""
        if self._expected.fields:
            return Documents(self._scheme, self._expected.fields, self._expected.prefix)
        return (yield from self.documents())

    def documents_of_copy(self) -> Plan[Documents]:
        """How documents are to be fingerprinted in a copy of the index: as the caller says, and else as the index."""
        given = self._expected
        try:
            here = (yield from open_index(self.name, replace(given, scheme=None, fields=None))).documents
        except MappingError:
            if not given.fields:
                raise
            return Documents(self._scheme, given.fields, given.prefix)
        return Documents(given.scheme or here.scheme, given.fields or here.fields, given.prefix)

    def pipeline(self, install: bool, default: bool) -> Plan[IngestPipeline]:
        """The ingest pipeline, which may be installed."""
        yield from check_open(self.name)
        documents = yield from self.documents_to_write()
        if install or default:
            return (yield from install_pipeline(self.name, documents, default))
        return (yield from show_pipeline(self.name, documents))

    def remove_pipeline(self) -> Plan[PipelineRemoved]:
        """Take the ingest pipeline away."""
        return (yield from remove_pipeline(self.name, self._expected.prefix))

    def scripts(self, name: str | None) -> Plan[list[Stored]]:
        """The stored scripts and search templates."""
        yield from check_open(self.name)
        documents = yield from self.documents()
        return stored(documents.scheme, documents.prefix, name)

    def install_scripts(self, name: str | None) -> Plan[InstalledScripts]:
        """Put them on the server."""
        return (yield from install_scripts((yield from self.scripts(name))))

    def remove_scripts(self, name: str | None) -> Plan[list[str]]:
        """Take them away."""
        return (yield from remove_scripts((yield from self.scripts(name))))

    def explain(self, ids: tuple[str, str], options: FindRequest) -> Plan[Explanation]:
        """Why two documents are near-duplicates, or are none."""
        from es_simhash.plans.explain.explain_pair import explain_pair

        documents = yield from self.documents()
        return (yield from explain_pair(self.name, documents, ids, options, self._rarity))

    def find(self, kind: str, item: Any, options: FindRequest) -> Plan[Matches]:
        """The near-duplicates of one ``text``, document in the index by its ``id``, or ``doc`` that is not in it."""
        [matches] = yield from self.find_many(kind, [item], options)
        if matches.status == "empty":
            raise TextError("An empty text has nothing to be found by. Give a text with letters or digits.")
        return matches

    def find_many(self, kind: str, items: Sequence[Any], options: FindRequest, first: int = 0) -> Plan[list[Matches]]:
        """The near-duplicates of each of several; ``first`` is the place of the first."""
        documents = yield from self._documents_for(options)
        if kind == "id":
            wanted = yield from query_documents_by_id(self.name, documents, items)
        elif kind == "text":
            wanted = [QueryDocument.of_text(documents, item) for item in items]
        else:
            wanted = list(query_documents(documents, items, first).values())
        return (yield from find_many(self.name, documents, wanted, options, self._rarity))

    def _documents_for(self, options: FindRequest) -> Plan[Documents]:
        """Without fields in the index, what the caller says of it must do."""
        if options.candidates != "more_like_this" or not self._expected.fields or self._opened is not None:
            return (yield from self.documents())
        if self._preview is None:
            documents = yield from self.wanted_documents()
            # A login that may only search cannot read the mapping, and does without this check.
            with suppress(AccessError):
                yield from check_text_fields((yield GetMappings(self.name)), documents)
            self._preview = documents
        return self._preview
