"""The pipeline on servers before the current ones: an older Java, and one without what a pipeline needs."""

from __future__ import annotations

import pytest

from es_simhash.documents.documents import Documents
from es_simhash.errors import ScriptError
from es_simhash.index import Index
from es_simhash.scheme.scheme import Scheme
from tests.support.pipeline_script import Script, awkward_texts, every_code_point, texts
from tools.nodes import Node


def test_an_older_java_makes_the_same(elasticsearch8_node: Node) -> None:
    script = Script(elasticsearch8_node)
    for scheme in (Scheme(), Scheme.preset("short"), Scheme.preset("strict")):
        script.is_right_about(Documents(scheme, ["text"]), texts(*awkward_texts()))
    script.is_right_about(Documents(Scheme(), ["text"]), every_code_point())


def test_a_server_without_scripts_says_so(opensearch2_node: Node) -> None:
    with Index("no-scripts", opensearch2_node.url, fields=["text"]) as index:
        index.init()
        with pytest.raises(ScriptError, match="runs no such scripts"):
            index.pipeline(install=True, default=True)
        assert not index.remove_pipeline().removed
