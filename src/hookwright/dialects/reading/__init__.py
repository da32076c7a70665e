"""The hooks that other coding agents have on this machine, read from their own configuration files."""
