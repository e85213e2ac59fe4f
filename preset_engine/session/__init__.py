"""The Stello session model: sessions, slots, forks, the forest, the engine and the agent.

From what is stored to many sessions at once::

    stored values          record, meta, topology, config
    the store's contract   protocols, slots, refusals
    what a prompt is       frame, prompt, prepared, compression, refine, memo, greeting
    one model call         session, stored, options, loading, call, commit, turn
    one turn               engine, tools, skills, shared_memory
    many sessions          agent, setup, forest, fork, split_guard, engines, queue, upkeep, events
    the world              clock, cancellation
"""
