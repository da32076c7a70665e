"""Sessions on disk, as JSON lines.

| module | contents |
|---|---|
| `paths` | where transcripts are: `project_folder`, `session_path`, `subagent_path`, `checked_id` |
| `lines` | a file of lines that survives its writer: `LineFile`, `read_lines` |
| `writer` | `Transcript`: user, assistant, tool_result, system, attachment, compact_boundary, subagent |
| `hooks` | hook runs as lines: `attachments`, `late_attachment`, `stop_summary`; `texts_read` reads them back |
| `reader` | `load(path) -> Conversation`, its `messages()`, `pending` calls, `closed` for a model API |
| `sessions` | `list_sessions`, `latest_session` (--continue), `find_session` (--resume), `fork_session` |
"""

from hookwright.agent.transcript.hooks import (
    Attachment,
    CallContext,
    attachments,
    late_attachment,
    model_text,
    program_note,
    stop_summary,
    texts_read,
    with_reads,
)
from hookwright.agent.transcript.lines import read_lines
from hookwright.agent.transcript.paths import (
    InvalidSession,
    checked_id,
    project_folder,
    project_folders,
    session_folder,
    session_path,
    slug,
    subagent_path,
)
from hookwright.agent.transcript.reader import Conversation, closed, conversation, load, pending, tool_uses
from hookwright.agent.transcript.sessions import Saved, find_session, fork_session, latest_session, list_sessions
from hookwright.agent.transcript.writer import Envelope, Mirror, Transcript, git_branch

__all__ = [
    "Attachment",
    "CallContext",
    "Conversation",
    "Envelope",
    "InvalidSession",
    "Mirror",
    "Saved",
    "Transcript",
    "attachments",
    "checked_id",
    "closed",
    "conversation",
    "find_session",
    "fork_session",
    "git_branch",
    "late_attachment",
    "latest_session",
    "list_sessions",
    "load",
    "model_text",
    "pending",
    "program_note",
    "project_folder",
    "project_folders",
    "read_lines",
    "session_folder",
    "session_path",
    "slug",
    "stop_summary",
    "subagent_path",
    "texts_read",
    "tool_uses",
    "with_reads",
]
