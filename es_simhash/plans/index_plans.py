"""The plans of one index, which share what they have read from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from es_simhash._core.arguments import options_from, wrong_type
from es_simhash._core.humanize import printable
from es_simhash._core.json_codec import Json
from es_simhash.documents.decisions import Decision
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import check_some_text
from es_simhash.documents.stored_scripts import StoredScript, stored_scripts
from es_simhash.errors import DocumentError, EngineError, IndexStateError, InputError, MappingError, TextError
from es_simhash.plans.add import Writer, request
from es_simhash.plans.check import SeenDocuments
from es_simhash.plans.decided import decide, decisions_on_all
from es_simhash.plans.distinct import DistinctPage, SearchBody, SearchOptions, search_page
from es_simhash.plans.find import find_many, find_passages
from es_simhash.plans.find_options import (
    FindOptions,
    QueryDocument,
    SearchTerms,
    query_documents,
    query_documents_by_id,
)
from es_simhash.plans.init import (
    IngestPipeline,
    Initialised,
    InstalledScripts,
    PipelineRemoved,
    init,
    install_pipeline,
    install_scripts,
    remove_pipeline,
    remove_scripts,
    show_pipeline,
)
from es_simhash.plans.open_index import (
    IndexRarity,
    IndicesBehind,
    KnownIndex,
    OpenedIndex,
    check_open,
    elsewhere,
    indices_behind,
    no_fields,
    not_from_here,
    noted_rarity,
    open_index,
    policy_in,
    readable_mappings,
    require_fingerprints,
    scheme_there,
)
from es_simhash.plans.operations import GetMappings, Plan, is_remote
from es_simhash.plans.reply_size import SearchExperience
from es_simhash.plans.scope_filters import ScopeFilters, check_scope
from es_simhash.plans.text_fields import check_text_fields, readable, refuse_absent, texts_there
from es_simhash.scheme import mapping
from es_simhash.scheme.learnt_rarity import LearntRarity
from es_simhash.scheme.rerank import Matches
from es_simhash.scheme.scheme import Scheme, is_preset
from es_simhash.scheme.scope import Policy, Scope, combined

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from es_simhash.plans.explanation import Explanation
    from es_simhash.plans.keywords import KnownIndexKeywords


# A text of enough features to be searched for.
_WARMING = "A text that is searched for before any other, 1."


class IndexPlans:
    """The plans of one index, by its name."""

    def __init__(self, name: str, **known: Unpack[KnownIndexKeywords]) -> None:
        self.name = name
        if not isinstance(name, str):
            raise wrong_type("name", name, "the name of an index")
        self._expected = options_from(KnownIndex, known)
        self._opened: OpenedIndex | None = None
        self._preview: Documents | None = None
        self._filters: dict[Scope, ScopeFilters] = {}
        self._rarity = IndexRarity()
        self._experience = SearchExperience()
        self._terms: SearchTerms | None = None
        self._has_fingerprints = False

    def __str__(self) -> str:
        """Write what is known without a look at the index: the text fields, and the preset."""
        documents, given = self._opened and self._opened.documents, self._expected
        fields, scheme = (documents or given).fields, documents.scheme if documents else given.given_scheme
        parts = [f"fields {' and '.join(fields)}"] if fields else []
        if scheme:
            parts.append(f"{'preset' if is_preset(scheme) else 'scheme'} {scheme.name}")
        return printable(", ".join(parts))

    def init(self, create: Json | None, dry_run: bool, policy: Policy | None) -> Plan[Initialised]:
        """Add the fields to the index."""
        if not self._expected.fields:
            yield from self._ask_for_fields()
        self._opened = self._preview = None
        self._filters.clear()
        documents = yield from self.wanted_documents()
        return (yield from init(self.name, documents, create, dry_run, policy))

    def _ask_for_fields(self) -> Plan[None]:
        there = yield from readable(self.name)
        raise InputError(
            f"The index {self.name!r} needs at least one text field for its fingerprints. "
            f"{texts_there(there) if there else 'Name the fields that will hold its texts.'} "
            "As in: --field title (in Python fields=['title'])."
        )

    def opened(self) -> Plan[OpenedIndex]:
        """Return how the index fingerprints its documents; it is read once."""
        if self._opened is None:
            self._opened = yield from open_index(self.name, self._expected)
            self._rarity = IndexRarity(self._opened.learnt)
        return self._opened

    def documents(self) -> Plan[Documents]:
        """Return the documents, for plans that need no fields in every index behind the name."""
        return (yield from self.opened()).documents

    def documents_to_write(self) -> Plan[Documents]:
        """Return the documents, for plans that may write to any index behind the name."""
        if is_remote(self.name):
            raise not_from_here(self.name, f"Writing to {self.name!r} is refused")
        opened = yield from self.opened()
        for name in opened.without_fields:
            raise no_fields(name, self._expected.prefix)
        return opened.documents

    def documents_to_sync(self) -> Plan[tuple[Documents, bool]]:
        """Return the documents, as the index or else the caller describes them, and whether fields are to be added."""
        if is_remote(self.name):
            raise not_from_here(self.name, f"Writing to {self.name!r} is refused")
        # Indices may have joined the name since it was opened.
        self._opened = None
        try:
            opened = yield from self.opened()
        except MappingError:
            if not self.brings_fields:
                if any(mapping.entries((yield GetMappings(self.name)), self._expected.prefix).values()):
                    raise
                yield from self._ask_for_fields()
            return (yield from self.wanted_documents()), True
        brings = self.brings_fields and bool(opened.without_fields)
        if brings:
            self._opened = None
        return opened.documents, brings

    @property
    def brings_fields(self) -> bool:
        """Whether the caller names the text fields, so that the index can be initialised."""
        return self._expected.fields is not None

    def wanted_documents(self) -> Plan[Documents]:
        """Return the documents as the caller describes them, even if the index has no fields; else as it does."""
        given = self._expected
        if not given.fields:
            return (yield from self.documents())
        scheme = given.given_scheme or (yield from scheme_there(self.name, given)) or Scheme.preset("default")
        return Documents(scheme, given.fields, given.prefix)

    def documents_of_copy(self) -> Plan[Documents]:
        """Return the documents for a copy of the index: as the caller describes them, else as the index does."""
        given = self._expected
        try:
            here = (yield from open_index(self.name, replace(given, scheme=None, fields=None))).documents
        except MappingError:
            if not given.fields:
                raise
            return Documents(given.given_scheme or Scheme.preset("default"), given.fields, given.prefix)
        return replace(here, scheme=given.given_scheme or here.scheme, fields=given.fields or here.fields)

    def indices_behind(self) -> Plan[IndicesBehind]:
        """Return the indices behind the name, for plans that read them one by one."""
        return (yield from indices_behind(self.name, self._expected))

    def pipeline(self, install: bool, default: bool) -> Plan[IngestPipeline]:
        """Return the ingest pipeline, and install it on request."""
        yield from check_open(self.name)
        documents = yield from self.documents_to_write()
        if install or default:
            return (yield from install_pipeline(self.name, documents, default))
        return (yield from show_pipeline(self.name, documents))

    def remove_pipeline(self) -> Plan[PipelineRemoved]:
        """Remove the ingest pipeline."""
        return (yield from remove_pipeline(self.name, self._expected.prefix))

    def scripts(self, name: str | None) -> Plan[list[StoredScript]]:
        """Return the stored scripts and search templates; an index with a scope, which they cannot follow, has none."""
        if scope := (yield from self.documents()).policy.scope:
            raise InputError(
                f"Scripts and search templates cannot follow the scope of the index {self.name!r} ({scope}). Search by "
                "find, check or search. For searches that filter by it themselves, take the scripts of an "
                "index that has the same scheme and no scope."
            )
        return (yield from self._all_scripts(name))

    def _all_scripts(self, name: str | None) -> Plan[list[StoredScript]]:
        yield from check_open(self.name)
        documents = yield from self.documents()
        return stored_scripts(documents.scheme, documents.prefix, name)

    def install_scripts(self, name: str | None) -> Plan[InstalledScripts]:
        """Install the stored scripts and search templates on the server."""
        return (yield from install_scripts((yield from self.scripts(name))))

    def remove_scripts(self, name: str | None) -> Plan[list[str]]:
        """Remove the stored scripts and search templates from the server."""
        return (yield from remove_scripts((yield from self._all_scripts(name))))

    def learnt(self, learnt: LearntRarity | EngineError | None) -> None:
        """Compare texts by what was just learnt, if anything was."""
        if isinstance(learnt, LearntRarity):
            self._rarity = IndexRarity(learnt)

    def explain(self, ids: tuple[str, str], options: FindOptions) -> Plan[Explanation]:
        """Explain why two documents are near-duplicates, or why they are not."""
        from es_simhash.plans.explanation import explain_pair

        terms = yield from self._terms_of((yield from self.documents()), options)
        return (yield from explain_pair(terms, ids))

    def find(self, kind: str, item: Any, options: FindOptions) -> Plan[Matches]:
        """Find the near-duplicates of one ``text``, indexed document (by ``id``), or ``doc`` outside the index."""
        [matches] = yield from self.find_many(kind, [item], options)
        if matches.status == "empty":
            raise TextError("An empty text cannot be searched for. Give a text with letters or digits.")
        if matches.missing:
            raise DocumentError(
                f"The document has no value in {', '.join(matches.missing)}, so it is in scope with no other one. "
                "Add it to the document."
            )
        return matches

    def find_many(self, kind: str, items: Sequence[Any], options: FindOptions, first: int = 0) -> Plan[list[Matches]]:
        """Find the near-duplicates of each item; ``first`` is the position of the first."""
        documents = yield from self._documents_for(options)
        terms = yield from self._terms_of(documents, options)
        terms.check_scope_values(is_text=kind == "text")
        if kind == "id":
            wanted = yield from query_documents_by_id(self.name, documents, items, terms.scope_paths)
        elif kind == "text":
            wanted = [QueryDocument(item, options.scope_values or {}, is_bare=True) for item in items]
        else:
            wanted = list(query_documents(documents, items, first).values())
            if not first:
                check_some_text([each.document for each in wanted], documents.fields)
        found = yield from (find_passages if options.relation else find_many)(terms, wanted)
        if options.candidates == "keys" and not any(each.candidates for each in found):
            yield from self._check_fingerprints(documents)
        return found

    def decide(self, decisions: Sequence[Decision]) -> Plan[int]:
        """Keep decisions of people on documents of the index."""
        prefix = (yield from self.documents()).prefix
        kept = yield from decide(self.name, prefix, decisions)
        self._opened = self._terms = None
        return kept

    def decisions(self) -> Plan[list[Decision]]:
        """Return the decisions of people on documents of the index."""
        prefix = (yield from self.documents()).prefix
        return (yield from decisions_on_all((yield GetMappings(self.name)), prefix)).decisions

    def search(self, body: Json, request: SearchOptions) -> Plan[DistinctPage]:
        """Return a page of a search's hits."""
        documents = yield from self.documents()
        terms = yield from self._terms_of(documents, request.near)
        asked = SearchBody(body, documents, request.window, request.with_texts, request.by_groups, terms.scope_paths)
        return (yield from search_page(terms, asked, request))

    def warm_up(self) -> Plan[None]:
        """Do all that the first search has to do before it can compare texts."""
        documents, options = (yield from self.documents()), FindOptions()
        terms = yield from self._terms_of(documents, options)
        # Of a scope, no document has these values: its fields are asked for all the same.
        yield from find_many(terms, [QueryDocument(_WARMING, dict.fromkeys(terms.scope_paths, 0), is_bare=True)])
        with suppress(IndexStateError):
            yield from self._check_fingerprints(documents)
        compare = terms.verifier()
        if compare:
            compare.to_others(_WARMING, [_WARMING.swapcase()])

    def writer(self, refresh: bool, patience: float) -> Plan[Writer]:
        """Return what writes documents, and gives them groups where the policy says so."""
        documents = yield from self.documents_to_write()
        grouping = None
        if documents.policy.groups == "online":
            grouping = yield from self._terms_of(documents, request(documents.prefix))
        indices = (yield from self.opened()).indices
        return Writer(self.name, documents, refresh, patience, grouping, indices)

    def seen(self, options: FindOptions) -> Plan[SeenDocuments]:
        """Return the documents of a list that is to be checked, none so far."""
        if options.relation:
            raise InputError("New documents are checked for near-duplicates only. Find what contains them one by one.")
        terms = yield from self._terms_of((yield from self.documents()), options)
        terms.check_scope_values(is_text=False)
        return SeenDocuments(terms)

    def seen_in_index(self, options: FindOptions) -> Plan[SeenDocuments]:
        """Return the same, of an index that has fingerprints to compare with, unless it has no documents."""
        seen = yield from self.seen(options)
        yield from self._check_fingerprints(seen.terms.documents)
        return seen

    def _check_fingerprints(self, documents: Documents) -> Plan[None]:
        """Raise if the index has documents, and none with a fingerprint, so that nothing would be found among them."""
        if not self._has_fingerprints:
            yield from require_fingerprints(self.name, documents)
            self._has_fingerprints = True

    def _terms_of(self, documents: Documents, options: FindOptions) -> Plan[SearchTerms]:
        """Return what searches go by: nearly always the last, with all that was derived from it."""
        last = self._terms
        if last is None or last.documents is not documents or last.rarity is not self._rarity:
            last = None
        if last is None or last.options != options:
            scope = combined(documents.policy.scope, options.scope)
            filters = (yield from self._filters_of(documents, scope)) if scope else None
            there = self._opened.decisions if self._opened else None
            last = SearchTerms(self.name, documents, options, self._rarity, self._experience, filters, there)
            self._terms = last
        return last

    def _filters_of(self, documents: Documents, scope: Scope) -> Plan[ScopeFilters]:
        """Return what the server filters by; a scope whose fields cannot be read from documents is refused."""
        if scope not in self._filters:
            mappings: Mapping[str, Json] = yield from readable_mappings(self.name)
            if self._opened is not None:
                # In an index without fields nothing is found.
                entries = mapping.entries(mappings, documents.prefix)
                mappings = {name: mappings[name] for name, entry in entries.items() if entry}
            # Of what cannot be read nothing is left out before it is compared.
            mappings = {**mappings, **{name: {} for name in elsewhere(self.name)}}
            check_scope(mappings, scope)
            self._filters[scope] = yield from ScopeFilters.tried(self.name, mappings, scope)
        return self._filters[scope]

    def _documents_for(self, options: FindOptions) -> Plan[Documents]:
        """Return the documents to search; without fields in the index, the caller's description has to do."""
        if options.candidates != "more_like_this" or not self._expected.fields or self._opened is not None:
            return (yield from self.documents())
        if self._preview is None:
            documents = yield from self.wanted_documents()
            # A login that cannot read the mapping would not know the policy.
            mappings = yield from readable_mappings(self.name)
            yield from check_text_fields(mappings, documents)
            yield from refuse_absent(mappings, documents.fields)
            self._preview = replace(documents, policy=policy_in(mappings, documents.prefix))
            self._rarity = IndexRarity(noted_rarity(mappings, documents))
        return self._preview
