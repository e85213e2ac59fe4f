"""Request logs: our own line, its writer, and readers for the shapes people have.

The modules::

    our own lines   line, planned, request_line, schema, writer, recent
    foreign logs    reader, readers, sources, call, usage, times
"""
