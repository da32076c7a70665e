#!/bin/sh
# Lines written here apply to every later Bash command of the session.
{
  echo 'export NODE_ENV=development'
  echo 'export PATH="$PATH:./node_modules/.bin"'
} >> "$CLAUDE_ENV_FILE"
