"""Inputs of a request beside the history: texts, prompt arguments, facts and prices of models, workspaces."""
