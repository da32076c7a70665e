"""`list --import`: an agent's hooks as Claude Code settings."""

from __future__ import annotations

import json
import sys

from hookwright.cli.foreign.inventory import surroundings
from hookwright.dialects.model import FileScope
from hookwright.dialects.reading.importing import as_claude
from hookwright.dialects.reading.read import read_agent
from hookwright.dialects.table import dialect
from hookwright.text import escaped, flat, harmless, say, short_path


def print_imported(agent: str, project: str) -> int:
    """Print settings on stdout, and each loss and each file that could not be used on stderr; 1 if there is any."""
    around, folder = surroundings(project)
    read = read_agent(dialect(agent), around, folder)
    own = [hook for hook in read.hooks if hook.declared.scope is not FileScope.CLAUDE]
    done = as_claude(type(read)(dialect=read.dialect, files=read.files, hooks=tuple(own), problems=read.problems))
    say([escaped(json.dumps(done.settings, indent=2, ensure_ascii=False))], sys.stdout)
    places = [(hook.path, hook.line, what) for hook, what in done.losses]
    places += [(problem.path, problem.line, problem.what) for problem in read.problems]
    lost = [f"{short_path(path, around.cwd, around.home)}:{line}: {flat(what)}" for path, line, what in places]
    say([f"hookwright: {harmless(line)}" for line in lost], sys.stderr)
    return 1 if lost else 0
