"""How the documents of the index that a command is about are fingerprinted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from es_simhash.cli.output import Output
    from es_simhash.documents.documents import Documents
    from es_simhash.engines.base import Engine
    from es_simhash.index import Index


def wanted_documents(engine: Engine, index: str, known: dict[str, Any]) -> Documents:
    """What the options say, where they name fields, else what the index says."""
    from es_simhash.documents.documents import Documents
    from es_simhash.index import Index
    from es_simhash.scheme.scheme import Scheme

    if known["fields"]:
        return Documents(known["scheme"] or Scheme.preset("default"), known["fields"], known["prefix"])
    return Index(index, engine, **known).documents


def documents_of(engine: Engine, index: str, known: dict[str, Any], dry_run: bool) -> Documents:
    """What the index says; with fields given it gets them first, unless nothing is to be changed."""
    from es_simhash.index import Index

    opened = Index(index, engine, **known)
    if known["fields"] and opened.init(dry_run=dry_run).bodies and dry_run:
        return wanted_documents(engine, index, known)
    return opened.documents


def warn_of_indices_without_fields(output: Output, index: Index) -> None:
    """Name the indices behind a name in which nothing can be found."""
    for name in index.without_fields:
        output.warn(f"Left out: the index {name!r} has no fields for fingerprints. Add them with init.")
