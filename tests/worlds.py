"""One home, one project and one folder for managed settings, all real directories, and a few ways to look at a load."""

import json
from pathlib import Path
from typing import Any

from hookwright.config import Loaded, Places, load_hooks
from hookwright.config.trust import TrustPolicy


class World:
    """The places that a load looks at."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.project = root / "project"
        self.managed = root / "managed"
        for folder in (self.home / ".claude", self.project / ".claude", self.managed):
            folder.mkdir(parents=True)
        self.places = {
            "managed": self.managed / "managed-settings.json",
            "user": self.home / ".claude" / "settings.json",
            "project": self.project / ".claude" / "settings.json",
            "local": self.project / ".claude" / "settings.local.json",
        }

    def write(self, place: str | Path, value: Any) -> Path:
        """Write a settings file by scope, or any file by its path inside the world."""
        path = self.places[place] if isinstance(place, str) and place in self.places else self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))
        return path

    @property
    def env(self) -> dict[str, str]:
        """Give the environment of the load."""
        return {"HOOKWRIGHT_MANAGED_SETTINGS": str(self.managed), "HOOKWRIGHT_STATE_DIR": str(self.root / "state")}

    def load(
        self, start: Path | None = None, trust: TrustPolicy | None = TrustPolicy.EVERYTHING, **more: Any
    ) -> Loaded:
        """Load as a user would, from inside the project."""
        start = start or self.project
        env = {**self.env, **more.pop("env", {})}
        more = {name: tuple(value) if isinstance(value, list) else value for name, value in more.items()}
        cwd = more.pop("cwd", str(start))
        return load_hooks(Places(project=str(start), env=env, home=str(self.home), cwd=cwd, trust=trust, **more))


def hook(command: str, event: str = "PreToolUse", **more: Any) -> dict[str, Any]:
    """Make settings with one command hook."""
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": command, **more}]}]}}


def labels(loaded: Loaded) -> list[str]:
    """List handlers in configuration order."""
    return [entry.handler.label for entry in loaded.hooks]


def runnable(loaded: Loaded) -> list[str]:
    """List the handlers that nothing holds back."""
    return [
        entry.handler.label for entry in loaded.hooks if entry.held is None and loaded.gate.check(entry.handler) is None
    ]
