"""Our entries in the files of other agents: written by insertion only, removed without a trace."""
