"""What the host tells the engine about itself; the engine never reads the environment of its process."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from hookwright.protocol.handlers import Handler


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """The surroundings hooks run in; `Loaded.host` describes those of loaded settings."""

    #: `CLAUDE_PROJECT_DIR`: where the project settings were found, else the start directory.
    project_dir: str
    #: The environment that hooks inherit.
    env: Mapping[str, str]
    #: `env` of the settings files, which overrides the inherited environment.
    settings_env: Mapping[str, str] = msgspec.field(default_factory=dict)
    home: str = ""
    #: `~/.claude`, or what `CLAUDE_CONFIG_DIR` names.
    config_dir: str = ""
    entrypoint: str = "hookwright"
    #: A user is present to answer.
    attended: bool = False
    #: The session runs in the cloud (`CLAUDE_CODE_REMOTE`).
    remote: bool = False
    #: The variables that only one hook gets, from the handler and the environment of the others.
    hook_env: Callable[[Handler, Mapping[str, str]], Mapping[str, str]] | None = None
