"""How long providers keep a prefix that nobody reads, in seconds."""

LIFETIMES: dict[str, int] = {
    "openai": 600,  # documented as five to ten minutes of inactivity
    "azure": 600,
    "anthropic": 300,  # the five-minute cache, the default
    "bedrock": 300,
    "gemini": 300,
    "openrouter": 300,
    "deepseek": 7200,  # hours to days on disk; two hours is the careful reading
}
