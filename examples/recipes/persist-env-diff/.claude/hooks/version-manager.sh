# A stand-in for `nvm use`, `pyenv shell` and similar tools.
export TOOL_VERSION="20.1"
export TOOL_HOME="$HOME/tools/20.1"
