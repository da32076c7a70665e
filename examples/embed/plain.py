"""Ask a project's hooks before a plain script runs a command, without asyncio: plain.py PROJECT COMMAND"""

import os
import subprocess
import sys

from hookwright import Ask, PreToolUse, fire_sync

project, command = os.path.abspath(sys.argv[1]), sys.argv[2]
given = {"command": command}
outcome = fire_sync(PreToolUse, project, tool_name="Bash", tool_input=given)
for skip in outcome.skips:
    print(f"skipped {skip.handler.label}: {skip.reason.value}", file=sys.stderr)
if outcome.stop is not None:
    sys.exit(f"stopped: {outcome.stop.reason}")
if outcome.blocked or isinstance(outcome.decision, Ask):
    sys.exit(f"refused: {outcome.reason}")
tool_input = outcome.updated_input or given
sys.exit(subprocess.run(tool_input["command"], shell=True, cwd=project, check=False).returncode)
