"""Runs: from a trigger to the final answer."""
