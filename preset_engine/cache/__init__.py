"""What a prompt cache did: the report over logs.

The modules by their part in it::

    what is asked       options, wish, query, lifetimes
    from logs to rows   reading, families, table, duck, duck_table, spark
    the answer          report, prices, document
    what is shown       page, chart
"""
