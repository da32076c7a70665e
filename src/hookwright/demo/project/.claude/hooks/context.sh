#!/bin/sh
# Plain text at session start is context for the model.
echo "House rules: never delete folders, keep the tests green."
