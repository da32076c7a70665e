"""Hook templates: a script in bash and in Python, its settings entry, and its cases."""

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
    """The language of a hook."""

    BASH = "bash"
    PYTHON = "python"

    @property
    def ending(self) -> str:
        """The extension of a script's name."""
        return ".sh" if self is TemplateLanguage.BASH else ".py"


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of hook."""

    name: str
    title: str
    #: Event → groups; `{script}` in a command is replaced by the script's path.
    settings: Mapping[str, Sequence[Mapping[str, Json]]]
    scripts: Mapping[TemplateLanguage, str]
    cases: str
    #: Additional files for the project, by path.
    files: Mapping[str, str]
    #: Whether it is a guard, which the agent must not edit.
    guard: bool
    #: Programs that its scripts start, in either language.
    programs: tuple[str, ...] = ()

    def needs(self, language: TemplateLanguage) -> tuple[str, ...]:
        """Return the programs without which the script cannot work; scripts in bash read JSON with jq."""
        reads = "command -v jq" in self.scripts.get(language, "")
        return (*self.programs, "jq") if reads else self.programs

    @property
    def events(self) -> tuple[str, ...]:
        """The events it handles."""
        return tuple(self.settings)


def template_names() -> tuple[str, ...]:
    """List all templates."""
    return tuple(sorted(name for name in os.listdir(_FOLDER) if os.path.isdir(os.path.join(_FOLDER, name))))


def load_template(name: str) -> Template:
    """Read a template; raise ConfigError for one that does not exist."""
    known = template_names()
    if name not in known:
        meant = did_you_mean(name, known) or "."
        raise ConfigError(f"there is no template `{name}`{meant} `hookwright new --list` lists them.")
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
        programs=tuple(about.get("programs", ())),
    )


def _text(name: str, file: str) -> str:
    with open(os.path.join(_FOLDER, name, file), encoding="utf-8") as stream:
        return stream.read()
