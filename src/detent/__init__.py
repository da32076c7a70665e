"""Claude Code's hooks system, open and in Python."""
