"""Client of MCP servers, on the official SDK: processes over stdio, and streamable HTTP.

No Django. `schemas` and `listing` turn what a server lists into declarations, `connection` holds one server
for one person, `connections` all of a process; `guard` is the program that stands between Pipeweb and a
server's process. The SDK is imported with the first connection.
"""
