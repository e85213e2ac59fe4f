"""What a prompt cache did: the report over logs."""
