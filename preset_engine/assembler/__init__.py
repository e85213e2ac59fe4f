"""From a skeleton and content to drafts: holes, markers, examples, depth injection, the plan."""
