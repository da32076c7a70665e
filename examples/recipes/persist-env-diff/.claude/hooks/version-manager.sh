# Stands for `nvm use`, `pyenv shell` and the like.
export TOOL_VERSION="20.1"
export TOOL_HOME="$HOME/tools/20.1"
