"""Mappings: what the engine accepts, new fields as in Elasticsearch, and values and texts as terms.

``{"a.b": 1}`` and ``{"a": {"b": 1}}`` are the same field.

Numbers and dates are written as sixteen hexadecimal digits that sort like the values, so that ranges of values are
ranges of terms. A value that does not fit its type raises ValueError with the reason.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, TypeAlias, cast
from urllib.parse import quote

from es_simhash._core.dates import looks_like_a_date, milliseconds
from es_simhash._core.environment import by_kernels
from es_simhash._core.json_codec import Json, dumps, is_false, is_true
from es_simhash.errors import MappingError
from es_simhash.text.words import words


@dataclass(frozen=True)
class Field:
    """One field with values, or one sub-field; ``source`` is where its values are in documents."""

    path: str
    source: str
    kind: str
    indexed: bool
    analyzer: str | None
    ignore_above: int | None
    subfields: tuple[Field, ...]

    @cached_property
    def term_prefix(self) -> str:
        """The beginning of all terms of the field, which no other field shares."""
        return self.presence + "="

    @cached_property
    def presence(self) -> str:
        """The term of documents that have a value in the field."""
        return quote(self.path, safe="")

    @property
    def column(self) -> str:
        """The field of the store that holds the terms."""
        return "words" if self.analyzer else "exact"

    @cached_property
    def opaque(self) -> bool:
        """Whether the engine only stores values of this type, without looking at them."""
        return self.kind not in INDEXED

    @cached_property
    def write(self) -> Callable[[object], str]:
        """The function that writes a value as a term; an opaque field has none."""
        return WRITERS[self.kind]


class IndexMapping:
    """A checked, immutable mapping with its fields by path."""

    def __init__(self, body: Json) -> None:
        self.body = body
        self.fields: dict[str, Field] = {}
        self.objects: dict[str, str] = {}
        self._add_object("", body, "true")
        for field in list(self.fields.values()):
            self.fields.update({sub.path: sub for sub in field.subfields})

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> IndexMapping:
        """Return the mapping in a request for a new index."""
        return cls(checked_mapping(body))

    def merged(self, body: Mapping[str, Any]) -> IndexMapping:
        """Return the mapping with more fields; a given ``_meta`` replaces the present one."""
        new = checked_mapping(body)
        properties = merged_properties("", self.body["properties"], new["properties"])
        _check_count(properties)
        return IndexMapping(self.body | new | {"properties": properties})

    def owner(self, path: str) -> Field | str:
        """Return the nearest mapped ancestor of a path: a field, or the ``dynamic`` setting of an object."""
        above = path.rpartition(".")[0]
        if above in self.objects:
            return self.objects[above]
        return self.fields.get(above) or self.owner(above)

    def below(self, path: str) -> Iterator[Field]:
        """Yield the field at this path, or those in the object at this path."""
        if field := self.fields.get(path):
            yield field
        elif path in self.objects:
            yield from (field for name, field in self.fields.items() if name.startswith(path + "."))

    def _add_object(self, path: str, body: Json, inherited: str) -> None:
        dynamic = str(body.get("dynamic", inherited)).lower()
        self.objects[path] = dynamic
        for name, definition in body.get("properties", {}).items():
            full_name = f"{path}.{name}" if path else name
            if is_object(definition):
                self._add_object(full_name, definition, dynamic)
            else:
                self.fields[full_name] = _field(full_name, definition)


def _field(path: str, definition: Json, source: str | None = None) -> Field:
    kind = definition["type"]
    source = source or path
    return Field(
        path,
        source,
        kind,
        kind in INDEXED and is_true(definition.get("index", True)),
        definition.get("analyzer", "standard") if kind == "text" else None,
        definition.get("ignore_above"),
        tuple(_field(f"{path}.{name}", sub, source) for name, sub in definition.get("fields", {}).items()),
    )


MAX_FIELDS = 1000

_ROOT = ("properties", "_meta", "dynamic", "date_detection")
_OBJECT = ("type", "properties", "dynamic", "enabled")
_DYNAMIC = ("true", "false", "strict")
# Parameters of indexed fields: those with an effect here, and those accepted without one.
_EFFECTIVE = ("type", "index", "analyzer", "ignore_above", "fields")
_WITHOUT_EFFECT = (
    "doc_values",
    "norms",
    "store",
    "index_options",
    "fielddata",
    "eager_global_ordinals",
    "format",
    "meta",
    "null_value",
)
_DATE_FORMATS = ("strict_date_optional_time", "date_optional_time", "epoch_millis", "iso8601")
# Parameters that cannot change once a field exists, with their defaults.
_FIXED = {"index": True, "analyzer": "standard", "enabled": True, "null_value": None}


def is_object(definition: Json) -> bool:
    """Return whether a definition is an object with fields, not a field with values."""
    return definition.get("type", "object") == "object" and not is_false(definition.get("enabled"))


def checked_mapping(body: Mapping[str, Any]) -> Json:
    """Return a mapping in normal form; raise if the engine cannot do all it says."""
    _check_keys("The mapping", body, _ROOT)
    result: Json = {key: deepcopy(body[key]) for key in ("_meta", "date_detection") if key in body}
    result |= _checked_object("", body)
    _check_count(result["properties"])
    return result


def _checked_object(path: str, body: Mapping[str, Any]) -> Json:
    result: Json = {}
    if "dynamic" in body:
        if str(body["dynamic"]).lower() not in _DYNAMIC:
            raise MappingError(
                f"The embedded engine has no dynamic: {body['dynamic']!r} (at {path or 'the root'!r}). "
                f"Choose from: {', '.join(_DYNAMIC)}."
            )
        result["dynamic"] = body["dynamic"]
    properties = body.get("properties", {})
    if not isinstance(properties, Mapping):
        raise MappingError(
            f"The properties of {path or 'the root'!r} are not an object. Give each field under its name."
        )
    tree: Json = {}
    for name, definition in properties.items():
        full_name = f"{path}.{name}" if path else name
        checked = _checked_definition(full_name, definition)
        # A dotted name stands for nested objects.
        *parents, last = check_name(full_name, name)
        nested = {last: checked}
        for parent in reversed(parents):
            nested = {parent: {"properties": nested}}
        tree = merged_properties(path, tree, nested)
    return result | {"properties": tree}


def check_name(path: str, name: object) -> list[str]:
    """Return the parts of a field's name; raise if the name is invalid."""
    if not isinstance(name, str) or not all(part.strip() for part in name.split(".")):
        raise MappingError(f"A field cannot be named {path!r}. Leave no part of the name, between dots, empty.")
    return name.split(".")


def _checked_definition(path: str, definition: object) -> Json:
    if not isinstance(definition, Mapping):
        raise MappingError(
            f"The field {path!r} is not defined by an object. Give it a type, such as {{'type': 'keyword'}}."
        )
    kind = definition.get("type", "object")
    if kind == "object":
        _check_keys(f"The object {path!r}", definition, _OBJECT)
        if is_false(definition.get("enabled")):
            return {"type": "object", "enabled": False}
        return _checked_object(path, definition)
    if kind in INDEXED:
        _check_keys(f"The field {path!r}", definition, (*_EFFECTIVE, *_WITHOUT_EFFECT))
        _check_parameters(path, definition)
    result = deepcopy(dict(definition))
    if "fields" in definition:
        result["fields"] = _checked_subfields(path, definition["fields"])
    return result


def _checked_subfields(path: str, fields: object) -> Json:
    if not isinstance(fields, Mapping) or not all(
        isinstance(sub, Mapping) and "type" in sub for sub in fields.values()
    ):
        raise MappingError(f"The field {path!r} has no fields of its own in {fields!r}. Give each a name and a type.")
    return {name: _checked_definition(f"{path}.{name}", sub) for name, sub in fields.items()}


def _check_parameters(path: str, definition: Mapping[str, Any]) -> None:
    analyzer = definition.get("analyzer")
    if analyzer is not None and (definition["type"] != "text" or analyzer not in tuple(ANALYZERS)):
        raise MappingError(
            f"The embedded engine cannot analyze the field {path!r} by {analyzer!r}. "
            f"Choose from {', '.join(ANALYZERS)}, for fields of type text."
        )
    ignore_above = definition.get("ignore_above", 0)
    if isinstance(ignore_above, bool) or not isinstance(ignore_above, int):
        raise MappingError(f"The field {path!r} cannot have ignore_above: {ignore_above!r}. Give a whole number.")
    if "null_value" in definition and not is_false(definition.get("index")):
        raise MappingError(
            f"The embedded engine does not replace null in the field {path!r}. "
            "Leave null_value out, or set index: false."
        )
    formats = str(definition.get("format", _DATE_FORMATS[0])).split("||")
    if not set(formats) <= set(_DATE_FORMATS):
        raise MappingError(
            f"The embedded engine does not read dates in the format {definition['format']!r} (the field {path!r}). "
            f"Choose from: {', '.join(_DATE_FORMATS)}."
        )


def _check_keys(what: str, body: object, known: tuple[str, ...]) -> None:
    if not isinstance(body, Mapping):
        raise MappingError(f"{what} is {body!r}, not an object. Write it in the form of Elasticsearch's mappings.")
    if unknown := set(body) - set(known):
        raise MappingError(
            f"{what} has {sorted(unknown, key=str)!r}, which the embedded engine does not support. "
            f"Leave it out; supported: {', '.join(known)}."
        )


def merged_properties(path: str, present: Json, new: Json) -> Json:
    """Return fields with others added; raise if an existing one would change."""
    merged = dict(present)
    for name, definition in new.items():
        full_name = f"{path}.{name}" if path else name
        there = present.get(name)
        merged[name] = definition if there is None else _merged_definition(full_name, there, definition)
    return merged


def _merged_definition(path: str, present: Json, new: Json) -> Json:
    _check_same(path, "type", present.get("type", "object"), new.get("type", "object"))
    if "type" not in present and "type" not in new:
        return present | new | {"properties": merged_properties(path, present["properties"], new["properties"])}
    for key, default in _FIXED.items():
        _check_same(path, key, present.get(key, default), new.get(key, default))
    merged = present | new
    if "fields" in present or "fields" in new:
        merged["fields"] = merged_properties(path, present.get("fields", {}), new.get("fields", {}))
    return merged


def _check_same(path: str, key: str, present: object, new: object) -> None:
    if _form(present) != _form(new):
        raise MappingError(
            f"The field {path!r} has {key} {present!r} and cannot get {key} {new!r}. "
            "Choose another name, or load the documents into a new index."
        )


def _form(value: object) -> object:
    """Return a value of a parameter as servers take it: ``"false"`` is False."""
    return str(value).lower() if isinstance(value, bool) else value


def _check_count(properties: Json) -> None:
    if (count := _count(properties)) > MAX_FIELDS:
        raise MappingError(
            f"The mapping would have {count} fields, more than {MAX_FIELDS}. "
            "Set dynamic: false where documents name fields of their own."
        )


def _count(properties: Json) -> int:
    below = (d.get("properties", {}) | d.get("fields", {}) for d in properties.values())
    return len(properties) + sum(map(_count, below))


# The path of a value, and the value, which is neither null nor an array.
Leaf: TypeAlias = tuple[str, Any]


class RejectedError(Exception):
    """A document or action refused with this status in a bulk result."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


def encode(document: Json) -> bytes:
    """Return the JSON of a document."""
    try:
        return dumps(document, _strictly)
    except (TypeError, ValueError) as error:
        raise RejectedError(f"The document is not JSON: {error}. Use JSON values only.") from None


def _strictly(document: Json) -> bytes:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def version_of(source: bytes) -> dict[str, int]:
    """Return the version of a document that conditional writes name.

    There is no counter of changes, so it is a hash of the source: the condition holds while the document is the same.
    It has 53 bits, which every JSON reader keeps.
    """
    return {"_seq_no": int.from_bytes(sha256(source).digest()[:7], "big") >> 3, "_primary_term": 1}


def updated(document: Json, part: Mapping[str, Any]) -> Json:
    """Return a document with a part replaced: objects are merged, all other values are replaced."""
    result = dict(document)
    for name, value in part.items():
        there = result.get(name)
        if isinstance(there, dict) and isinstance(value, dict):
            result[name] = updated(there, value)
        else:
            result[name] = value
    return result


def leaves(document: Any) -> list[Leaf]:
    """Return the values in a document with their paths, elements of arrays one by one; none if it is not an object."""
    found: list[Leaf] = []
    if isinstance(document, dict):
        _add_leaves(document, "", found)
    return found


def _add_leaves(values: Json, above: str, found: list[Leaf]) -> None:
    for name, value in values.items():
        path = f"{above}{name}"
        if isinstance(value, str):  # most are
            found.append((path, value))
        else:
            _add_leaves_of(value, path, found)


def _add_leaves_of(value: Any, path: str, found: list[Leaf]) -> None:
    if isinstance(value, dict):
        _add_leaves(value, path + ".", found)
    elif isinstance(value, list | tuple):
        for inner in value:
            _add_leaves_of(inner, path, found)
    elif value is not None:
        found.append((path, value))


def terms(document_leaves: list[Leaf], mapping: IndexMapping) -> dict[str, list[str]]:
    """Return the terms of a document whose mapped fields are all in the mapping, by their columns in the store.

    ``exact`` has those of exact values and of present fields, ``words`` the words of each text, separated by spaces.
    """
    exact: list[str] = []
    words: list[str] = []
    present: set[str] = set()
    for path, value in document_leaves:
        if field := mapping.fields.get(path):
            for each in (field, *field.subfields):
                if _add_terms(each, value, exact, words):
                    present.add(each.presence)
        elif path in mapping.objects:
            raise RejectedError(f"The field {path!r} is an object, but has the value {value!r:.80}. Give an object.")
    return {"exact": [*exact, *present], "words": words}


def _add_terms(field: Field, value: Any, exact: list[str], words: list[str]) -> bool:
    """Add the terms of a value; return False for a keyword longer than ``ignore_above``, which does not count."""
    if field.opaque:
        return True
    try:
        term = field.write(value)
    except (ValueError, OverflowError) as error:
        raise RejectedError(f"The field {field.path!r} is of type {field.kind}, but {error}. Correct it.") from None
    if field.ignore_above is not None and len(term) > field.ignore_above:
        return False
    if field.indexed and field.analyzer:
        if found := ANALYZERS[field.analyzer](term):
            words.append(field.term_prefix + found.replace(" ", " " + field.term_prefix))
    elif field.indexed:
        _check_length(field, term)
        exact.append(field.term_prefix + term)
    return True


def _check_length(field: Field, term: str) -> None:
    if len(term) * 4 > MAX_KEYWORD_BYTES and len(term.encode()) > MAX_KEYWORD_BYTES:
        raise RejectedError(
            f"The field {field.path!r} has a keyword of more than {MAX_KEYWORD_BYTES} bytes. "
            "Map it as text, or with ignore_above.",
        )


_STRING: Json = {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}


def with_new_fields(mapping: IndexMapping, document_leaves: list[Leaf]) -> IndexMapping:
    """Return the mapping with the new fields of a document; the same mapping if there are none."""
    new: dict[str, Json] = {}
    for path, value in document_leaves:
        if path in mapping.fields or path in mapping.objects or path in new:
            continue
        if _is_to_be_mapped(mapping, path):
            new[path] = _definition(value, detect_dates=mapping.body.get("date_detection", True))
    if not new:
        return mapping
    try:
        return mapping.merged({"properties": new})
    except MappingError as error:
        raise RejectedError(str(error)) from None


def _is_to_be_mapped(mapping: IndexMapping, path: str) -> bool:
    owner = mapping.owner(path)
    if isinstance(owner, Field):
        if owner.opaque:
            return False
        raise RejectedError(f"The field {owner.path!r} is of type {owner.kind}, but has an object. Give a value.")
    if owner == "strict":
        raise RejectedError(
            f"The field {path!r} is not in the mapping, which is strict. Put it into the mapping, or leave it out."
        )
    return owner == "true"


def _definition(value: Any, detect_dates: bool) -> Json:
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int):
        return {"type": "long"}
    if isinstance(value, float):
        return {"type": "float"}
    if detect_dates and looks_like_a_date(value):
        return {"type": "date"}
    return _STRING


# Lucene's, and so Elasticsearch's, limit.
MAX_KEYWORD_BYTES = 32_766

INTEGER_BITS = {"long": 64, "integer": 32, "short": 16, "byte": 8}
_MAX_EXPONENT = 308
# The position of 0 in the order of all digits.
MIDDLE = 1 << 63
OF_STRINGS = ("keyword", "text")
ORDERED = (*INTEGER_BITS, "double", "float", "date")


def unicode_text(text: str) -> str:
    """Return the text; raise UnicodeEncodeError for lone surrogates, which no index can store."""
    text.encode()
    return text


def keyword(value: object) -> str:
    """Return a string, or a number or boolean in JSON."""
    if isinstance(value, str):
        return unicode_text(value)
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise ValueError(f"{_shown(value)} is not a string")


def boolean(value: object) -> str:
    """Return ``true`` or ``false``."""
    if value is True or value == "true":
        return "true"
    if value is False or value in ("false", ""):
        return "false"
    raise ValueError(f"{_shown(value)} is neither true nor false")


def whole_number(value: object, bits: int) -> int:
    """Return the value without its fraction; raise unless it fits into ``bits`` bits."""
    whole = value if type(value) is int else int(number(value))
    if not -(1 << bits - 1) <= whole < 1 << bits - 1:
        raise ValueError(f"{_shown(value)} is out of range")
    return whole


def is_whole(value: object) -> bool:
    """Return whether a number has no fraction."""
    given = number(value)
    return given == given.to_integral_value()


def number(value: object) -> Decimal:
    """Return a value as an exact number: floats could not distinguish large integers."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{_shown(value)} is not a number")
    try:
        given = Decimal(value.strip() if isinstance(value, str) else value)
    except InvalidOperation:
        raise ValueError(f"{_shown(value)} is not a number") from None
    if not given.is_finite() or given.adjusted() > _MAX_EXPONENT:
        raise ValueError(f"{_shown(value)} is out of range")
    return given


def ordered_float(value: float) -> str:
    """Return a double as digits that sort like it: its bits, all inverted if negative, else with the sign inverted."""
    (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))
    return f"{bits ^ (0xFFFF_FFFF_FFFF_FFFF if bits >> 63 else MIDDLE):016x}"


def _float(value: object, kind: str) -> float:
    given = float(number(value))
    if kind == "float":
        try:
            (given,) = struct.unpack("f", struct.pack("f", given))
        except OverflowError:
            given = math.inf
    if math.isinf(given):
        raise ValueError(f"{_shown(value)} is out of range")
    return given


def ordered(kind: str, value: object) -> str:
    """Return a number or date as digits that sort like it."""
    if kind in ("double", "float"):
        return ordered_float(_float(value, kind))
    integer = milliseconds(value) if kind == "date" else value
    return f"{whole_number(integer, INTEGER_BITS.get(kind, 64)) + MIDDLE:016x}"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."


# The functions that write values of each type as terms.
WRITERS: dict[str, Callable[[object], str]] = {
    "keyword": keyword,
    "text": keyword,
    "boolean": boolean,
    **{kind: partial(ordered, kind) for kind in ORDERED},
}
INDEXED = tuple(WRITERS)

# Longer words are split, as by Elasticsearch's tokenizers.
_LONGEST = 255
# Texts whose words are found without Unicode's rules.
_PLAIN = re.compile(r"[A-Za-z0-9 ]*")


def whitespace(text: str) -> str:
    """Split a text at white space."""
    return _joined(text.split(), len(text))


def standard(text: str) -> str:
    """Split a text at Unicode's default word boundaries, in lower case; each ideograph is a word."""
    if _PLAIN.fullmatch(text):
        return _joined(text.lower().split(), len(text))
    found = by_kernels(lambda kernels: cast(str, kernels.words(text, _LONGEST)))
    return (_joined(words(text), len(text)) if found is None else found).lower()


def _joined(found: list[str], length: int) -> str:
    """Join the words of a text of this length, the long ones in pieces."""
    if length > _LONGEST and max(map(len, found), default=0) > _LONGEST:
        found = [word[start : start + _LONGEST] for word in found for start in range(0, len(word), _LONGEST)]
    return " ".join(found)


ANALYZERS: dict[str, Callable[[str], str]] = {"standard": standard, "whitespace": whitespace}
