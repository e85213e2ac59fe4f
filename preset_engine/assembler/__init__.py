"""From a skeleton and content to drafts: holes, markers, examples, depth injection, the plan.

`assemble` tells the story of one turn. The modules by their part in it::

    what is given        scenario, scene, chat, skeleton
    texts of the turn    fields, extension, collection, holes, examples, opening, tail
    the history          turns, past, inject
    the prompt           layout, pieces, shape, params
    its explanation      plan, rows, change
    what is remembered   recall, watched, seen
"""
