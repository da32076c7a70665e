"""What the host tells the engine about itself; nothing in the engine reads the process's own environment."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """The surroundings in which hooks run."""

    #: `CLAUDE_PROJECT_DIR`: where the project settings were found, else the start directory.
    project_dir: str
    #: The environment that hooks inherit.
    env: Mapping[str, str]
    #: `env` of the settings files, which goes over the inherited environment.
    settings_env: Mapping[str, str] = msgspec.field(default_factory=dict)
    home: str = ""
    #: `~/.claude`, or what `CLAUDE_CONFIG_DIR` names.
    config_dir: str = ""
    entrypoint: str = "hookwright"
    #: A person is there to answer.
    attended: bool = False
    #: The session runs in the cloud (`CLAUDE_CODE_REMOTE`).
    remote: bool = False

    @classmethod
    def here(
        cls, project_dir: str, settings_env: Mapping[str, str] | None = None, env: Mapping[str, str] | None = None
    ) -> Host:
        """Describe the running process, or one with another environment."""
        env = dict(os.environ if env is None else env)
        home = env.get("HOME") or os.path.expanduser("~")
        return cls(
            project_dir=os.path.abspath(project_dir),
            env=env,
            settings_env=settings_env if settings_env is not None else {},
            home=home,
            config_dir=env.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude"),
            remote=env.get("CLAUDE_CODE_REMOTE") == "true",
        )
