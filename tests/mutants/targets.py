"""The pure core, and the tests that hold it."""

from __future__ import annotations

_SHADOW = "test_shadow_laws.py"
_RULES = ("test_matchers.py", "test_conditions.py")

#: Each module with the test files that are tried, those that state its law first.
TARGETS: dict[str, tuple[str, ...]] = {
    "hookwright/interpret.py": ("test_interpret_verdicts.py", "test_interpret.py", "test_wire.py", _SHADOW),
    "hookwright/aggregate.py": ("test_aggregate.py", "test_visibility.py", "test_interpret.py", _SHADOW),
    "hookwright/selection.py": (
        "test_selection_details.py",
        "test_selection.py",
        "test_selection_names.py",
        *_RULES,
        _SHADOW,
    ),
    "hookwright/visibility.py": ("test_visibility.py", "test_aggregate.py", "test_interpret.py"),
    "hookwright/matching/matchers.py": _RULES,
    "hookwright/matching/conditions.py": (
        "test_conditions_tools.py",
        "test_conditions.py",
        "agent/test_permissions.py",
    ),
    "hookwright/protocol/wire.py": ("test_wire_answers.py", "test_wire.py", "test_interpret.py"),
    "hookwright/agent/permissions/decide.py": (
        "agent/test_permissions_reasons.py",
        "agent/test_permissions.py",
        "agent/test_permissions_commands.py",
    ),
}

#: Further modules, tried only to prove requirement rows: their words are not all written out in tests.
PROVING: dict[str, tuple[str, ...]] = {
    "hookwright/config/parse.py": ("config/test_parse.py",),
    "hookwright/config/load.py": ("config/test_load.py",),
    "hookwright/config/locations.py": ("config/test_locations.py", "config/test_load.py"),
    "hookwright/config/settings.py": ("config/test_settings.py", "config/test_load.py"),
    "hookwright/config/plugins.py": ("config/test_plugins.py",),
    "hookwright/background.py": ("test_background.py",),
    "hookwright/executors/callback.py": ("test_callbacks.py",),
    "hookwright/code_hooks.py": ("test_callbacks.py",),
    "hookwright/agent/transcript/hooks.py": ("agent/test_transcript_hooks.py",),
    "hookwright/agent/transcript/writer.py": ("agent/test_transcript.py",),
}
