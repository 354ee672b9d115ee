"""What a reviewer of a pull request sees: one comment in Markdown, out of what git and DVC say of two states."""
