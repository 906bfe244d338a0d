"""Benchmarks of Pipeweb on this machine, and their tests; `manage.py bench` lists and runs them.

A benchmark is a module with a `BENCH` (`base.Bench`). What it measures runs in child processes with a data
folder of their own: `python -m tests.bench.MODULE` takes arguments or JSON and prints JSON.
"""
