"""The Stello session model: sessions, slots, forks, the forest, the engine and the agent."""
