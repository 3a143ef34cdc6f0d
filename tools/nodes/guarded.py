"""An OpenSearch node with the security plugin: TLS everywhere, and users who log in with passwords.

The plugin keeps users and roles in an index of its own. It fills that index, when the node first starts, from the files
written here, which know no user; the one that tests begin with is added with the administrator's certificate.
"""

from __future__ import annotations

import json
import ssl
from http import HTTPStatus
from typing import TYPE_CHECKING

from .certificates import ADMIN, NODE, subject, write_certificates
from .local import LocalNode
from .web import send

if TYPE_CHECKING:
    from pathlib import Path

    from .launch import Layout
    from .node import NodeSpec

_TLS = {
    f"plugins.security.ssl.{layer}.{what}_filepath": f"certificates/{file}"
    for layer in ("transport", "http")
    for what, file in (("pemcert", f"{NODE}.pem"), ("pemkey", f"{NODE}.key"), ("pemtrustedcas", "ca.pem"))
}
_SETTINGS: dict[str, object] = {
    **_TLS,
    "plugins.security.ssl.http.enabled": True,
    "plugins.security.nodes_dn": [subject(NODE)],
    "plugins.security.authcz.admin_dn": [subject(ADMIN)],
    "plugins.security.restapi.roles_enabled": ["all_access"],
    "plugins.security.allow_default_init_securityindex": True,
    "plugins.security.audit.type": "noop",
    # Passwords of tests live for seconds; each hash would take a third of one.
    "plugins.security.password.hashing.bcrypt.rounds": 4,
}
_BASIC_LOGIN = {
    "http_enabled": True,
    "order": 0,
    "http_authenticator": {"type": "basic", "challenge": True},
    "authentication_backend": {"type": "intern"},
}
# All roles named here are parts of the plugin.
_CONTENTS: dict[str, dict[str, object]] = {
    "config": {"config": {"dynamic": {"authc": {"basic": _BASIC_LOGIN}}}},
    "roles_mapping": {"all_access": {"backend_roles": ["admin"]}},
    "roles": {},
    "internal_users": {},
    "action_groups": {},
    "tenants": {},
    "nodes_dn": {},
}
_TYPES = {name: name.replace("_", "") for name in _CONTENTS} | {"nodes_dn": "nodesdn"}


class GuardedNode(LocalNode):
    def __init__(self, spec: NodeSpec, java_home: Path, distribution: Path) -> None:
        super().__init__(spec, java_home, distribution)
        self.url = self.url.replace("http:", "https:")
        self.ca_certs = self._certificates / "ca.pem"

    @property
    def _certificates(self) -> Path:
        return self._layout.config / "certificates"

    def _secure(self, layout: Layout) -> None:
        write_certificates(self._certificates)
        with (layout.config / "opensearch.yml").open("a", encoding="utf-8") as file:
            file.writelines(f"{name}: {json.dumps(value)}\n" for name, value in _SETTINGS.items())
        folder = layout.config / "opensearch-security"
        folder.mkdir()
        for name, content in _CONTENTS.items():
            about = {"_meta": {"type": _TYPES[name], "config_version": 2}}
            # JSON is YAML.
            (folder / f"{name}.yml").write_text(json.dumps(about | content), encoding="utf-8")

    def _store_password(self, password: str) -> None:
        """Leave that for when the node runs, and has hashed it."""

    def _answers(self) -> bool:
        return self._has_user() and super()._answers()

    def _has_user(self) -> bool:
        """Add the first user, unless the index of users is not ready yet."""
        tls = ssl.create_default_context(cafile=self.ca_certs)
        tls.load_cert_chain(self._certificates / f"{ADMIN}.pem", self._certificates / f"{ADMIN}.key")
        name, password = self.credentials or ("", "")
        user = {"password": password, "backend_roles": ["admin"]}
        try:
            reply = send(f"{self.url}/_plugins/_security/api/internalusers/{name}", "PUT", user, tls=tls)
        except OSError:
            return False
        return reply.status in {HTTPStatus.OK, HTTPStatus.CREATED}
