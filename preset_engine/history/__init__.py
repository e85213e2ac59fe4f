"""Histories: text to turns, SillyTavern chat files, tool groups, windows.

The modules::

    from outside           load, chat_file, names
    text with heads        parse, heads, projection
    what enters a prompt   tool_groups, window
"""
