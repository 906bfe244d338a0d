"""Runs: from a trigger to the final answer.

`Runner` starts, stops and follows runs; `Engine` is the flow of one run; `Recorder` appends raw
chunks; `recovery` ends what a dead process left behind.
"""
