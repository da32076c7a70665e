"""Read, search and copy the files of a project."""
