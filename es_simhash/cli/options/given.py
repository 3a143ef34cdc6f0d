"""Settings, and where they were given: on the command line, in a profile, or by the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import click

# What the user and the password in a URL are among the settings.
URL_USER, URL_PASSWORD = "url_user", "url_password"
_PARTS_OF_URLS = {URL_USER: "user", URL_PASSWORD: "password"}


@dataclass(frozen=True)
class Given:
    """The settings of one origin, each under its option's name in Python; they hold secrets, so they are not shown.

    ``named`` tells what a setting is called there: ``--api-key`` or ``ES_SIMHASH_API_KEY``.
    """

    values: Mapping[str, Any] = field(repr=False)
    named: Callable[[str], str] = field(repr=False)

    @classmethod
    def of(cls, values: Mapping[str, Any], named: Callable[[str], str]) -> Given:
        """The settings that were given among all that could be; one that is empty is refused."""
        for name, value in values.items():
            if value == "":
                raise click.UsageError(f"{named(name)} is empty. Give it a value, or leave it out.")
        return cls({name: value for name, value in values.items() if value is not None and value is not False}, named)

    def name(self, setting: str) -> str:
        """What a setting is called where it was given."""
        part = _PARTS_OF_URLS.get(setting)
        return f"the {part} in {self.named('url')}" if part else self.named(setting)

    def names(self, settings: Iterable[str]) -> list[str]:
        """What those of the settings are called that were given."""
        return [self.name(setting) for setting in settings if setting in self.values]

    def one_of(self, settings: Iterable[str], what: str) -> str | None:
        """Which of these settings was given, if any; several of them are refused, as so many of ``what``."""
        given = [setting for setting in settings if setting in self.values]
        if len(given) > 1:
            first, *others = self.names(given)
            raise click.UsageError(
                f"{first} and {' and '.join(others)} are {len(given)} {what}, and one is needed. "
                f"Drop {' and '.join(others)}, or else {first}."
            )
        return given[0] if given else None

    def with_values(self, **values: Any) -> Given:
        """The same with some settings replaced or added."""
        return replace(self, values={**self.values, **values})
