"""The schema of profiles accepts and refuses what the command line does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from es_simhash.cli.options.profiles import profile_named
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


def test_the_file_is_what_the_tool_writes() -> None:
    assert json_schemas.FILE.read_text(encoding="utf-8") == json_schemas.text(), "python -m tools.json_schemas"


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schemas.config_schema())


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
