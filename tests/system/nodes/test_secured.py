"""An OpenSearch with the security plugin: who may talk to it, and how."""

from __future__ import annotations

import ssl
from urllib.error import URLError

import pytest

from tools.nodes import Node
from tools.nodes.web import send


def test_it_answers_over_tls_to_those_who_have_its_password(secured_node: Node) -> None:
    assert secured_node.request("GET", "/").body["version"]["distribution"] == "opensearch"
    assert secured_node.request("GET", "/", anonymous=True).status == 401
    tls = ssl.create_default_context(cafile=secured_node.ca_certs)
    assert send(secured_node.url, credentials=("admin", "wrong"), tls=tls).status == 401


def test_only_its_own_authority_vouches_for_it(secured_node: Node) -> None:
    with pytest.raises(URLError, match="CERTIFICATE_VERIFY_FAILED"):
        send(secured_node.url, credentials=secured_node.credentials)
    with pytest.raises(OSError, match=r"closed|reset"):
        send(secured_node.url.replace("https:", "http:"))


def test_it_has_none_of_the_users_whose_passwords_everybody_knows(secured_node: Node) -> None:
    known = {"anomalyadmin", "kibanaserver", "kibanaro", "logstash", "readall", "snapshotrestore"}
    assert not known & set(secured_node.request("GET", "/_plugins/_security/api/internalusers").body)


@pytest.mark.nightly
def test_its_users_outlive_a_restart(secured_node: Node) -> None:
    assert secured_node.request("PUT", "/books/_doc/1", {"title": "Nearest Neighbours"}).status == 201
    url = secured_node.url
    secured_node.restart()
    assert secured_node.url == url
    assert secured_node.request("GET", "/books/_doc/1").body["found"]
    secured_node.request("DELETE", "/books")
