#!/usr/bin/env bash
# Protect files from edits (PreToolUse, the tools that write files).
#
# Links are resolved first, so a link to a protected file is also protected. Writes by shell commands do not pass
# here: add a `deny` permission rule, or a guard on Bash, where that matters.
set -u

refuse() {
  printf '%s\n' "$1" >&2
  exit 2
}

command -v jq >/dev/null || refuse "path-guard needs jq, which is not installed."
event=$(cat)
given=$(jq -r '.tool_input.file_path // .tool_input.notebook_path // ""' <<<"$event") ||
  refuse "path-guard cannot read the event."
cwd=$(jq -r .cwd <<<"$event")
case "$given" in /*) path=$given ;; *) path=$cwd/$given ;; esac
project=$(realpath -m -- "${CLAUDE_PROJECT_DIR:-$cwd}")

# Patterns for the path below the project and for the file's name; edit them to your needs.
check() {
  local below=${1#"$project"/} why=""
  local name=${1##*/}
  case "$below" in .claude/hooks/tests/*) return 0 ;; esac
  case "$name" in .env.example | .env.sample | .env.template) return 0 ;; esac
  case "$below" in
    .git/*) why="git writes it; use git commands" ;;
    .claude/settings*.json) why="it configures hooks and permissions; a person edits it" ;;
    .claude/hooks/*) why="it is a hook; a person edits it" ;;
  esac
  case "$name" in
    .env | .env.*) why="it holds secrets; edit .env.example instead" ;;
    *.pem | *.key) why="it is a key or a certificate" ;;
    id_rsa* | id_ed25519*) why="it is a private key" ;;
    *.lock | package-lock.json | pnpm-lock.yaml) why="a package manager writes it; run the package manager" ;;
  esac
  if [ -n "$why" ]; then
    refuse "$below is protected: $why."
  fi
}

check "$(realpath -m -s -- "$path")"
check "$(realpath -m -- "$path")"
