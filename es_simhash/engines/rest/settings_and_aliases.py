"""Operations on settings, aliases and other resources of a server, as requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from es_simhash._core.json_codec import Json
from es_simhash.engines.rest.reply_checks import typed
from es_simhash.engines.rest.requests import SOMETHING, Conversation, Request, acknowledged, path_of
from es_simhash.errors import EngineError
from es_simhash.plans.operations import (
    CheckFiles,
    DeleteResource,
    FilesChecked,
    GetAliases,
    GetResource,
    GetSettings,
    Operation,
    PutResource,
    PutSettings,
    UpdateAliases,
)


def _get_settings(operation: GetSettings) -> Conversation[dict[str, Json]]:
    reply = yield Request("GET", path_of(operation.index, "_settings"), {**SOMETHING, "flat_settings": "true"})
    return {index: typed(found["settings"], dict) for index, found in reply.items()}


def _put_settings(operation: PutSettings) -> Conversation[None]:
    acknowledged(operation, (yield Request("PUT", path_of(operation.index, "_settings"), body=operation.settings)))


def _get_aliases(operation: GetAliases) -> Conversation[dict[str, dict[str, Json]]]:
    reply = yield Request("GET", path_of(operation.index, "_alias"), SOMETHING)
    return {index: typed(found["aliases"], dict) for index, found in reply.items()}


def _update_aliases(operation: UpdateAliases) -> Conversation[None]:
    acknowledged(operation, (yield Request("POST", "/_aliases", body={"actions": list(operation.actions)})))


def _look(operation: GetResource) -> Conversation[Json]:
    return (yield Request("POST" if operation.question else "GET", operation.path, body=operation.question))


def _put_resource(operation: PutResource) -> Conversation[None]:
    acknowledged(operation, (yield Request("PUT", operation.path, body=operation.body)))


def _delete_resource(operation: DeleteResource) -> Conversation[None]:
    acknowledged(operation, (yield Request("DELETE", operation.path, repeatable=False)))


def _check_files(operation: CheckFiles) -> Conversation[FilesChecked]:
    raise EngineError(
        f"The files of {operation.index!r} are the server's, which compares them with their checksums on its own: "
        "a damaged shard fails. Ask for this with the embedded engine only."
    )


CONVERSATIONS: Mapping[type[Operation[Any]], Callable[[Any], Conversation[Any]]] = {
    GetSettings: _get_settings,
    PutSettings: _put_settings,
    GetAliases: _get_aliases,
    UpdateAliases: _update_aliases,
    GetResource: _look,
    PutResource: _put_resource,
    DeleteResource: _delete_resource,
    CheckFiles: _check_files,
}
