"""Documents read from files, one by one, whatever the size of the files.

    for found in read_documents(["articles.jsonl.gz"], on_reject=print):
        ...  # found.id, found.document, found.file, found.line

What cannot be read is rejected with its file and line, and the rest is read. See
`es_simhash.documents.files.reader`.
"""

from __future__ import annotations

from es_simhash.documents.files.data_file import FORMATS, FileDocument
from es_simhash.documents.files.output import whole_file
from es_simhash.documents.files.reader import read_documents, total_bytes
from es_simhash.documents.sources import RejectFile

__all__ = [
    "FORMATS",
    "FileDocument",
    "RejectFile",
    "read_documents",
    "total_bytes",
    "whole_file",
]
