"""``manynode project``: from a program to its projection by one command.

:mod:`.request` checks what the user wants and gathers all open questions, :mod:`.skeleton` derives, :mod:`.experiment`
writes the experiment, :mod:`.project_command` is the command.
"""
