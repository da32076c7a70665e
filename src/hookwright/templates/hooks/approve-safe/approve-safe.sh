#!/usr/bin/env bash
# Approve read-only commands (PreToolUse, Bash); have no opinion on all others, so that the user is asked as usual.
#
# A command is approved if every part is on the list, without redirects, substitutions or background work. The user's
# deny and ask rules still apply.
set -u

command -v jq >/dev/null || { echo "approve-safe needs jq, which is not installed." >&2; exit 1; }

exec jq -c '
  def plain: IN("ls", "pwd", "cat", "head", "tail", "wc", "file", "stat", "du", "df", "tree", "which", "true", "date",
    "uname", "basename", "dirname", "realpath", "cut", "uniq", "tr", "nl", "echo", "printf", "grep", "rg", "jq", "diff");
  def reads: IN("status", "diff", "log", "show", "blame", "rev-parse", "ls-files", "describe", "shortlog");
  def writes: test("^(--output|--ext-diff|--textconv|--pre|-o)");
  def safe: length > 0 and (any(.[1:][]; writes) | not)
    and (if .[0] == "git" then (.[1] // "" | reads) else (.[0] | plain) end);
  (.tool_input.command // "") as $command
  # Anything that hides a command, writes a file or runs in the background.
  | ($command | test("[`<>\\n\\\\$]|(?<!&)&(?!&)|[{}()~]")) as $opaque
  | [$command | scan("(?:\"[^\"]*\"|\u0027[^\u0027]*\u0027|[^\\s;&|\"\u0027])+|&&|\\|\\||[;|]|[\"\u0027]")] as $words
  | ($words | any(.[]; . == "\"" or . == "\u0027")) as $unbalanced
  | reduce $words[] as $word ([[]];
      if ($word | IN("&&", "||", "|", ";")) then . + [[]]
      else .[-1] += [$word | gsub("[\"\u0027]"; "")] end)
  | if ($words | length > 0) and ($opaque or $unbalanced | not) and all(.[]; safe) then
      {hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "allow",
        permissionDecisionReason: "every part of the command only reads"}}
    else empty end'
