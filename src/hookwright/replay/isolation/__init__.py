"""Keep hooks from changing anything outside a view of the machine while they are replayed.

In a fresh process with one thread, such as a worker of `ProcessPoolExecutor(mp_context=get_context("spawn"))`:

    bounds = Bounds(project, home)                 # bounds.py
    level = choose("auto", bounds, trusted=False)  # choose.py, once; ConfigError names the way out if there is none
    view = enter(level, bounds)                    # views.py; from here on this process runs inside
    …                                              # run hooks with `view.env` in their environment, cwd `view.project`
    view.written()                                 # what hooks changed, as a sorted tuple of `Written`
    view.renew()                                   # a fresh view: files as outside, every other process inside ended

`enter` also works as the pool's initializer. The process that called it stays outside, as the keeper of the view: it
mounts, ends with the process inside, and takes everything inside with it when it is killed. Code after `enter` runs
in its child, which is process 1 of its own process namespace at the levels that have one.

To run one function in a process of its own: `run_isolated(function, level, bounds)` (alone.py).

Files this process writes for its own use belong in `view.scratch`: it is neither renewed nor part of `written()`.
`level.gaps` says what a level does not cover. A hook may meet refused writes and connections if `view.isolated`, which
must become a doubt: `dash` exits with 2 when a redirection is refused, which reads as a hook that denies. At the level
`overlay` writes to the project, the home directory, temporary folders and others that this user may write to succeed.
"""
