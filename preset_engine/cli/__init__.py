"""The command line, one module a group of commands.

`app` gathers the commands and turns errors into a line. The other modules::

    commands        demo, probe, imports, squash, cache, assemble, expand, sessions, session_forks
    what goes in    json_io, store, part_files, content_files, content_json, samples
    a probe         probing, probe_view
    what is shown   render, note_table, probe_screen, probe_tables, import_screen, cache_screen
"""
