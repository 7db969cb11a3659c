"""Commands without their start: a process that keeps what commands import, and forks for each of them (a fork server).

Most steps of a workflow take less time than their imports. ``manynode run`` therefore starts one server
(:mod:`manynode.fork_server.owner`) and names it in the environment; a command that finds it there
(:mod:`manynode.fork_server.client`) passes its arguments, environment, folder and open files to it, and a fork of the
server (:mod:`manynode.fork_server.server`) does the work. The command forwards signals and ends as the fork ends. A
command whose surroundings differ from the server's, such as another container, runs by itself, as it does without a
server.

This module imports next to nothing: it is all that a forwarded command has to start.
"""

ADDRESS = "MANYNODE_FORK_SERVER"
"""The environment variable with the name of the server's socket; empty: no server is used and none is started."""
