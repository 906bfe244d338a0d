"""Share a frozen copy of a branch under a link that needs no account."""
