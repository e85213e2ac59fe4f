"""Four back ends of the storage protocols: memory, files, SQLite, PostgreSQL.

`open` opens one by its address. The modules behind it::

    what all share    border, slots, transfer
    in this process   local, local_content, local_tree, workspace, shelf, changes, block, memory
    files             files, journal, lines, disk, threads
    SQL               sql, sql_content, sql_tree, sql_work, rows, schema, sqlite, postgres
"""
