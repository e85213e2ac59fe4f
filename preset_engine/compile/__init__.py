"""The two stages: reduce (mutations to a transcript) and convert (transcript to a request). Pure.

The modules by their part in it::

    values                 transcript, mutations, experiences, summary
    stage 1                reduce, apply, selfref, linkage
    stage 2                convert, tool_prompts, invocation, frame
    a turn with a preset   turn, unread
"""
