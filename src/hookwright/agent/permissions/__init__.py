"""Permissions of the reference agent.

| file | what is in it |
|---|---|
| `decide` | `decide(call, mode, rules, hook, workspace) -> Permit, Refuse, AskUser or Classify`, with its laws |
| `call` | `ToolCall`, the call to decide about |
| `rules` | allow, ask and deny rules with their origins, read with `hookwright.matching.conditions` |
| `workspace` | the directories of a session, and the files in them that are sensitive |
| `commands` | commands that only read, or only create, move and remove files |
| `suggest` | `permission_suggestions` of a PermissionRequest |
| `updates`, `keep` | `updatedPermissions`: read, applied, written to settings files |
| `session` | `Permissions`, all of it for one session |

After the PreToolUse hooks, with the input they may have rewritten, a loop does this:

    match permissions.decide(ToolCall.of(tool, arguments, context.cwd), outcome.decision):
        Permit    run the tool
        Refuse    send `text` to the model
        AskUser   fire PermissionRequest with `suggestions` (without a host, not when `by` is By.HOOK), ask the
                  user; if no user can be asked, send `reason` to the model. A hook's allow must pass
                  `permissions.guard(call)`.
        Classify  `await permissions.classify(call)`; if it returns Refuse, fire PermissionDenied
"""

from hookwright.agent.permissions.call import ToolCall
from hookwright.agent.permissions.decide import AskUser, By, Classify, Mode, Permit, Refuse, Ruling, decide, guard
from hookwright.agent.permissions.keep import SettingsFiles, ensure_ignored
from hookwright.agent.permissions.rules import Behavior, Origin, Rules, declared_rules, split_rules, spoken_rules
from hookwright.agent.permissions.session import Classifier, Permissions, PermissionSetup
from hookwright.agent.permissions.suggest import hook_suggestions, suggestions
from hookwright.agent.permissions.updates import (
    InvalidUpdate,
    RulesState,
    applied,
    read_mode,
    read_update,
    read_updates,
)
from hookwright.agent.permissions.workspace import Workspace

__all__ = [
    "AskUser",
    "Behavior",
    "By",
    "Classifier",
    "Classify",
    "InvalidUpdate",
    "Mode",
    "Origin",
    "PermissionSetup",
    "Permissions",
    "Permit",
    "Refuse",
    "Rules",
    "RulesState",
    "Ruling",
    "SettingsFiles",
    "ToolCall",
    "Workspace",
    "applied",
    "decide",
    "declared_rules",
    "ensure_ignored",
    "guard",
    "hook_suggestions",
    "read_mode",
    "read_update",
    "read_updates",
    "split_rules",
    "spoken_rules",
    "suggestions",
]
