"""The schemas of profiles and of schemes accept and refuse what the command line does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from es_simhash import PRESETS, EsSimhashError, Layout, Scheme
from es_simhash.cli.options.target import profile_named
from es_simhash.scheme.scheme import to_file
from es_simhash.text.tokens import Custom, Words
from tools import json_schemas

PROFILES: list[tuple[dict[str, Any], bool]] = [
    ({"url": "https://localhost:9200", "insecure": True, "distribution": "opensearch"}, True),
    ({"cloud_id": "a:b", "user": "indexer", "password_file": "word"}, True),
    ({"user": "indexer"}, False),
    ({"url": "https://localhost:9200", "insecure": "yes"}, False),
    ({"url": 9200}, False),
    ({"url": "https://localhost:9200", "distribution": "solr"}, False),
    ({"url": "https://localhost:9200", "verify": True}, False),
]


@pytest.mark.parametrize("name", json_schemas.SCHEMAS)
def test_the_file_is_what_the_tool_writes(name: str) -> None:
    kept = (json_schemas.FOLDER / name).read_text(encoding="utf-8")
    assert kept == json_schemas.text(name), "python -m tools.json_schemas"


@pytest.mark.parametrize("name", json_schemas.SCHEMAS)
def test_the_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json_schemas.SCHEMAS[name]())


@pytest.mark.parametrize(("profile", "is_good"), PROFILES)
def test_schema_and_command_line_agree(profile: dict[str, Any], is_good: bool, tmp_path: Path) -> None:
    lines = [f"{name} = {str(value).lower() if value is True else repr(value)}\n" for name, value in profile.items()]
    path = tmp_path / "config.toml"
    path.write_text("".join(["[profiles.ours]\n", *lines]), encoding="utf-8")
    environment = {"ES_SIMHASH_CONFIG": str(path)}
    checked = jsonschema.Draft202012Validator(json_schemas.config_schema())
    assert checked.is_valid({"profiles": {"ours": profile}}) == is_good
    if is_good:
        profile_named("ours", environment)
    else:
        with pytest.raises(click.UsageError):
            profile_named("ours", environment)


SCHEME_CHECKED = jsonschema.Draft202012Validator(json_schemas.scheme_schema())
CALLERS = {"split": str.split}


def _form(scheme: Scheme) -> dict[str, Any]:
    form: dict[str, Any] = json.loads(to_file(scheme))
    return form


@pytest.mark.parametrize(
    "scheme",
    [
        *map(Scheme.preset, PRESETS),
        Scheme(tokens=Words(2, frozenset({"the"})), layout=Layout(simhash="blocks"), minhash=None, verification=None),
        Scheme(tokens=Custom("split", str.split)),
    ],
    ids=lambda scheme: f"{scheme.name} {scheme.id}",
)
def test_what_is_written_names_the_schema_and_fits_it(scheme: Scheme) -> None:
    form = _form(scheme)
    assert form["$schema"] == json_schemas.scheme_schema()["$id"]
    SCHEME_CHECKED.validate(form)
    assert Scheme.from_json(json.dumps(form), functions=CALLERS) == scheme


@pytest.mark.parametrize(
    ("part", "setting", "value"),
    [
        ((), "colour", "red"),
        ((), "format", "es_simhash.scheme/9"),
        ((), "weights", "heavy"),
        ((), "hash", "adler32"),
        (("tokens",), "kind", "syllables"),
        (("tokens",), "size", 5),
        (("minhash",), "kind", "two-permutation"),
        (("minhash",), "row", 4),
        (("simhash",), "bytes", 8),
        (("layout",), "keys", "number"),
        (("layout",), "doc_values", "yes"),
        (("normalisation",), "nfkc", 1),
        (("verification",), "measure", "overlap"),
        (("verification",), "lengths", 0.9),
        (("verification",), "crowding", {"most": 0.5}),
    ],
)
def test_schema_and_reader_refuse_the_same(part: tuple[str, ...], setting: str, value: Any) -> None:
    form = _form(Scheme())
    inner = form
    for name in part:
        inner = inner[name]
    inner[setting] = value
    assert not SCHEME_CHECKED.is_valid(form)
    with pytest.raises(EsSimhashError):
        Scheme.from_json(json.dumps(form))


@pytest.mark.parametrize("name", ["format", "tokens", "minhash", "floor"])
def test_schema_and_reader_ask_for_the_same(name: str) -> None:
    form = _form(Scheme())
    del form[name]
    assert not SCHEME_CHECKED.is_valid(form)
    with pytest.raises(EsSimhashError):
        Scheme.from_json(json.dumps(form))


@pytest.mark.parametrize("name", ["$schema", "verification", "passages"])
def test_a_form_may_be_older_than_a_setting(name: str) -> None:
    form = _form(Scheme())
    form.pop(name, None)
    assert SCHEME_CHECKED.is_valid(form)
    assert Scheme.from_json(json.dumps(form)).id == Scheme().id
