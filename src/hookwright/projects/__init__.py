"""The files of a project: search them, copy them."""
