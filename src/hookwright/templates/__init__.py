"""Templates of hooks: a script in bash and in Python, its settings entry, and cases that prove it."""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Mapping, Sequence

import msgspec

from hookwright.errors import ConfigError
from hookwright.protocol.jsontext import Json
from hookwright.text import did_you_mean

_FOLDER = os.path.join(os.path.dirname(__file__), "hooks")


class TemplateLanguage(enum.Enum):
    """What a hook is written in."""

    BASH = "bash"
    PYTHON = "python"

    @property
    def ending(self) -> str:
        """Give the ending of a script's name."""
        return ".sh" if self is TemplateLanguage.BASH else ".py"


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of hook."""

    name: str
    title: str
    #: Event → groups; `{script}` in a command stands for the script.
    settings: Mapping[str, Sequence[Mapping[str, Json]]]
    scripts: Mapping[TemplateLanguage, str]
    cases: str
    #: Further files of the project that come with it, by their paths.
    files: Mapping[str, str]
    #: It guards something, so the agent must not edit it.
    guard: bool

    @property
    def events(self) -> tuple[str, ...]:
        """List the events that it is for."""
        return tuple(self.settings)


def template_names() -> tuple[str, ...]:
    """List all templates."""
    return tuple(sorted(name for name in os.listdir(_FOLDER) if os.path.isdir(os.path.join(_FOLDER, name))))


def load_template(name: str) -> Template:
    """Read a template; raise ConfigError for one that does not exist."""
    known = template_names()
    if name not in known:
        raise ConfigError(f"there is no template `{name}`{did_you_mean(name, known)} List them: hookwright new --list")
    about = json.loads(_text(name, "template.json"))
    scripts = {
        language: _text(name, name + language.ending)
        for language in TemplateLanguage
        if os.path.exists(os.path.join(_FOLDER, name, name + language.ending))
    }
    return Template(
        name=name,
        title=about["title"],
        settings=about["settings"],
        scripts=scripts,
        cases=_text(name, "cases.yaml"),
        files=about.get("files", {}),
        guard=about.get("guard", False),
    )


def _text(name: str, file: str) -> str:
    with open(os.path.join(_FOLDER, name, file), encoding="utf-8") as stream:
        return stream.read()
