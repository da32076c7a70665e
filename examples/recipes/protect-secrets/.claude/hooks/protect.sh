#!/bin/sh
# Refuse writes to secrets and to the repository's own data.
file=$(jq -r '.tool_input.file_path // .tool_input.notebook_path // empty' < /dev/stdin) || exit 1
case $file in
  */.env | */.env.* | */.git/* | */secrets/* | *.pem | *.key | */id_rsa*)
    echo "$file is protected: change it yourself if it must change" >&2
    exit 2 ;;
esac
