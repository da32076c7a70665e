#!/usr/bin/env bash
# Refuse shell commands that destroy work (PreToolUse, Bash and PowerShell).
#
# jq splits the command into its parts first, so that `rm -r -f x` is found and `echo "rm -rf /"` is not. This catches
# mistakes. It is not a boundary: a script can hide anything, so keep permission rules and backups.
set -u

refuse() {
  printf '%s\n' "$1" >&2
  exit 2
}

command -v jq >/dev/null || refuse "shell-guard needs jq, which is not installed."

# One line per simple command, its words separated by tabs, without quotes.
split='
  .tool_input.command // ""
  | [scan("(?:\"(?:[^\"\\\\]|\\\\.)*\"|\u0027[^\u0027]*\u0027|\\\\.|[^\\s;&|()\"\u0027\\\\])+|[;&|()\\n]+")]
  | map(if test("^[;&|()\\n]+$") then "\n" else gsub("[\"\u0027\\\\]"; "") end)
  | join("\t")'
lines=$(jq -r "$split") || refuse "shell-guard cannot read the event."

precious() {
  local path=${1%\*}
  case "${path%/}" in
    "" | . | .. | "~" | "$HOME" | "$PWD" | .git | */.git) return 0 ;;
    /*/*) return 1 ;;
    /*) return 0 ;;
  esac
  return 1
}

check() {
  local -a words=("$@") targets=()
  while [ "${#words[@]}" -gt 0 ]; do
    case "${words[0]}" in
      sudo | doas | command | exec | env | nohup | time | nice | xargs | [A-Za-z_]*=*) words=("${words[@]:1}") ;;
      *) break ;;
    esac
  done
  [ "${#words[@]}" -gt 0 ] || return 0
  local name=${words[0]##*/} short="" long=" " word
  for word in "${words[@]:1}"; do
    case "$word" in
      --*) long+="${word%%=*} " ;;
      -*) short+=${word#-} ;;
      *) targets+=("$word") ;;
    esac
  done
  local first=${targets[0]-}
  case "$name" in
    rm)
      case "$short$long" in *[rR]* | *" --recursive "*) ;; *) return 0 ;; esac
      for word in "${targets[@]}"; do
        if precious "$word"; then
          refuse "\`rm\` would remove $word with everything in it. Name the folder you mean."
        fi
      done
      ;;
    git)
      case "$first:$short:$long" in
        reset:*" --hard "*) refuse '`git reset --hard` discards uncommitted work. Use `git stash` first.' ;;
        clean:*f*d*:* | clean:*d*f*:*)
          refuse '`git clean -fd` deletes untracked files for good. Use `git clean -nd` and delete by name.'
          ;;
        push:*f*:* | push:*" --force "*)
          refuse "A force push overwrites other people's commits. Use --force-with-lease on your own branch."
          ;;
      esac
      ;;
    mkfs*) refuse "\`$name\` overwrites a whole disk." ;;
    dd)
      case " ${targets[*]-} " in *" of=/dev/"*) refuse '`dd` overwrites a whole disk.' ;; esac
      ;;
    chmod | chown)
      case "$short$long" in *R* | *" --recursive "*) ;; *) return 0 ;; esac
      for word in "${targets[@]}"; do
        if precious "$word"; then
          refuse "\`$name -R\` on $word changes files far beyond the project."
        fi
      done
      ;;
  esac
}

while IFS= read -r line; do
  IFS=$'\t' read -r -a found <<<"$line"
  if [ "${#found[@]}" -gt 0 ]; then
    check "${found[@]}"
  fi
done <<<"$lines"
