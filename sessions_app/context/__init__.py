"""Panel sources: rows and files become the values of the prompt core."""
