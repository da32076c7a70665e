"""Replay on workers that do not have this machine's files: hooks and settings travel, processes die, nothing is lost.

A `Fleet` (fleet.py) is an executor and a way to carry a bundle to its workers. The bundle (bundle.py) is a tar of the
hooks, the settings and the project (contents.py), named by its hash. On a worker (worker.py) it is checked and unpacked
once; each task then runs in a process of its own (inner.py), isolated as on this machine, with the files of the bundle
at the paths they have here. dask.py connects to a dask cluster.
"""
