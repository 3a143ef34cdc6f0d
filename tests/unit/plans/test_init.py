"""Pipelines and scripts are installed and removed by plans, here on a server in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.stored_scripts import description, name_of, stored_scripts
from es_simhash.engines.base import run
from es_simhash.errors import AccessError, EngineError, IndexStateError, MissingError, ScriptError
from es_simhash.plans.init import install_pipeline, install_scripts, remove_pipeline, remove_scripts, show_pipeline
from es_simhash.plans.operations import (
    DeleteResource,
    EngineInfo,
    GetInfo,
    GetResource,
    GetSettings,
    Operation,
    PutResource,
    PutSettings,
    Search,
)
from es_simhash.scheme.scheme import Scheme

DOCUMENTS = Documents(Scheme(), ["title"])
SCRIPTS = stored_scripts(Scheme())
NAME = name_of("articles")
PATH = f"/_ingest/pipeline/{NAME}"
DEFAULT, FINAL = "index.default_pipeline", "index.final_pipeline"


@dataclass
class Server:
    """The resources of a server, and the settings of its indices."""

    distribution: str = "elasticsearch"
    resources: dict[str, Json] = field(default_factory=dict)
    settings: dict[str, Json] = field(default_factory=lambda: {"articles": {}})
    templates: bool = True

    def perform(self, operation: Operation[Any]) -> Any:
        match operation:
            case GetInfo():
                return EngineInfo(self.distribution, (8, 0, 0))
            case Search():
                return {"hits": {"hits": []}}
            case GetSettings(index):
                if index not in self.settings:
                    raise MissingError(f"There is no index {index!r}.")
                return {index: self.settings[index]}
            case PutSettings(index, settings):
                self.settings[index] |= settings
            case GetResource(path):
                return self._resource(path)
            case PutResource(path, body):
                if not self.templates and body.get("script", {}).get("lang") == "mustache":
                    raise ScriptError("There is no module for Mustache.")
                self.resources["/".join(path.split("/")[:3]) if path.startswith("/_scripts") else path] = body
            case DeleteResource(path):
                del self.resources[path]
        return None

    def close(self) -> None: ...

    def _resource(self, path: str) -> Json:
        if path.startswith("/_scripts"):
            return {"found": path in self.resources, **self.resources.get(path, {})}
        if not path.startswith("/_cluster"):
            return {path.rsplit("/", maxsplit=1)[-1]: self.resources[path]} if path in self.resources else {}
        found = {
            index: {"settings": {"index": {key.removeprefix("index."): value for key, value in own.items()}}}
            for index, own in self.settings.items()
        }
        return {"metadata": {"indices": found}} if found else {}


def test_a_pipeline_is_shown_installed_made_the_default_and_removed() -> None:
    server = Server()
    shown = run(show_pipeline("articles", DOCUMENTS), server)
    assert (shown.installed, server.resources) == (False, {})
    installed = run(install_pipeline("articles", DOCUMENTS, default=True), server)
    assert (installed.name, installed.installed, installed.default_of) == (NAME, True, ["articles"])
    assert server.resources[PATH] == shown.body
    assert server.settings["articles"] == {DEFAULT: NAME}
    removed = run(remove_pipeline("articles", "dedup"), server)
    assert (removed.removed, removed.default_of) == (True, ["articles"])
    assert (server.resources, server.settings["articles"]) == ({}, {DEFAULT: None})
    assert not run(remove_pipeline("articles", "dedup"), server).removed


def test_a_pipeline_without_being_the_default_changes_no_settings() -> None:
    server = Server(settings={})
    assert run(install_pipeline("articles", DOCUMENTS, default=False), server).default_of == []
    assert run(remove_pipeline("articles", "dedup"), server).removed


def test_a_copy_of_an_index_may_have_the_pipeline_of_the_original_as_its_default() -> None:
    original = {"/_ingest/pipeline/theirs": {"description": description("old", "dedup")}}
    server = Server(resources=original, settings={"articles": {DEFAULT: "theirs"}})
    assert run(install_pipeline("articles", DOCUMENTS, default=True), server).default_of == ["articles"]
    assert server.settings["articles"] == {DEFAULT: NAME}


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        (Server(resources={PATH: {"description": "theirs"}}), "does not belong to 'articles'"),
        (Server(settings={"articles": {DEFAULT: "theirs"}}), "has the default pipeline 'theirs' already"),
    ],
)
def test_a_foreign_pipeline_is_not_replaced(server: Server, problem: str) -> None:
    before = dict(server.resources)
    with pytest.raises(IndexStateError, match=problem):
        run(install_pipeline("articles", DOCUMENTS, default=True), server)
    assert server.resources == before


@pytest.mark.parametrize("settings", [{"articles": {FINAL: NAME}}, {"articles": {}, "other": {DEFAULT: NAME}}])
def test_a_pipeline_in_use_is_not_removed(settings: dict[str, Json]) -> None:
    ours = {PATH: {"description": description("articles", "dedup")}}
    server = Server(resources=ours, settings=settings)
    with pytest.raises(IndexStateError, match="Change that setting first"):
        run(remove_pipeline("articles", "dedup"), server)
    assert server.resources == ours


def test_a_pipeline_belongs_to_one_index_of_a_server() -> None:
    with pytest.raises(IndexStateError, match="may be several"):
        run(show_pipeline("articles-*", DOCUMENTS), Server())
    with pytest.raises(EngineError, match="has no ingest pipelines"):
        run(show_pipeline("articles", DOCUMENTS), Server("embedded"))


def test_scripts_are_installed_and_removed() -> None:
    server = Server()
    installed = run(install_scripts(SCRIPTS), server)
    assert (installed.names, installed.left_out) == ([each.name for each in SCRIPTS], [])
    assert run(install_scripts(SCRIPTS), server) == installed
    assert run(remove_scripts(SCRIPTS), server) == installed.names
    assert (server.resources, run(remove_scripts(SCRIPTS), server)) == ({}, [])


def test_templates_are_left_out_where_the_server_runs_none() -> None:
    installed = run(install_scripts(SCRIPTS), Server(templates=False))
    assert installed.left_out == [each.name for each in SCRIPTS if each.is_template]
    assert installed.names == [each.name for each in SCRIPTS if not each.is_template]


def test_another_script_of_that_name_is_not_replaced() -> None:
    server = Server(resources={SCRIPTS[-1].path: {"script": {"source": "theirs"}}})
    with pytest.raises(IndexStateError, match="Remove it first"):
        run(install_scripts(SCRIPTS), server)
    assert len(server.resources) == 1


def test_scripts_are_for_servers_even_those_that_hide_what_they_are() -> None:
    with pytest.raises(EngineError, match="runs no scripts"):
        run(install_scripts(SCRIPTS), Server("embedded"))

    class Secretive(Server):
        def perform(self, operation: Operation[Any]) -> Any:
            if isinstance(operation, GetInfo):
                raise AccessError("No.")
            return super().perform(operation)

    assert run(remove_scripts(SCRIPTS), Secretive()) == []
