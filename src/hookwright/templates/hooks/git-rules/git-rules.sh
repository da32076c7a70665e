#!/usr/bin/env bash
# Keep commits off the main branch and git's own hooks on (PreToolUse, Bash and PowerShell).
set -u

refuse() {
  printf '%s\n' "$1" >&2
  exit 2
}

command -v jq >/dev/null || refuse "git-rules needs jq, which is not installed."
event=$(cat)

# One line per simple command, its words separated by tabs, without quotes.
split='
  .tool_input.command // ""
  | [scan("(?:\"(?:[^\"\\\\]|\\\\.)*\"|\u0027[^\u0027]*\u0027|\\\\.|[^\\s;&|()\"\u0027\\\\])+|[;&|()\\n]+")]
  | map(if test("^[;&|()\\n]+$") then "\n" else gsub("[\"\u0027\\\\]"; "") end)
  | join("\t")'
lines=$(jq -r "$split" <<<"$event") || refuse "git-rules cannot read the event."
cwd=$(jq -r .cwd <<<"$event")

check() {
  [ "$1" = git ] || return 0
  shift
  local folder=$cwd
  while [ "${1-}" = -C ] || [ "${1-}" = -c ]; do
    if [ "$1" = -C ]; then folder=${2-$cwd}; fi
    shift 2 || return 0
  done
  local verb=${1-}
  case "$verb" in commit | push | merge) ;; *) return 0 ;; esac
  local words=" $* "
  case "$verb:$words" in
    *" --no-verify "* | commit:*" -n "*)
      refuse "\`git $verb --no-verify\` skips this repository's checks. Fix what they find instead."
      ;;
    commit:*" --allow-empty-message "*) refuse "A commit needs a message that says why it was made." ;;
  esac
  if [ "$verb" = commit ]; then
    local branch
    branch=$(git -C "$folder" symbolic-ref --short -q HEAD)
    case "$branch" in
      main | master | trunk) refuse "You are on $branch. Make a branch first: git switch -c <topic>" ;;
    esac
  fi
}

while IFS= read -r line; do
  IFS=$'\t' read -r -a found <<<"$line"
  if [ "${#found[@]}" -gt 0 ]; then
    check "${found[@]}"
  fi
done <<<"$lines"
