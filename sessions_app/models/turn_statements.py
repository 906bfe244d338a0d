"""The statements that walk a branch of turns; Django's queries have no recursion."""

WALK = """
WITH RECURSIVE branch(id, parent_id) AS (
    SELECT id, parent_id FROM sessions_app_turn WHERE id = %s
    UNION ALL
    SELECT turn.id, turn.parent_id FROM sessions_app_turn turn JOIN branch ON turn.id = branch.parent_id
    WHERE turn.depth >= %s
)
"""
"""The turns from a head up to a depth, newest first."""

BRANCH = f"""{WALK}
SELECT turn.* FROM sessions_app_turn turn JOIN branch ON turn.id = branch.id ORDER BY turn.depth
"""  # noqa: S608 (both parts are constants)
"""The same, oldest first, with all columns."""

MESSAGES = f"""{WALK}
SELECT count(*) FROM sessions_app_turn turn JOIN branch ON turn.id = branch.id
WHERE turn.kind = 'user_task'
"""  # noqa: S608
"""How many user tasks the walk has."""

BUFFERED = """
WITH RECURSIVE branch(id, parent_id, chunk_id) AS (
    SELECT id, parent_id, CAST(NULL AS bigint) FROM sessions_app_turn WHERE id = %s
    UNION ALL
    SELECT turn.id, turn.parent_id, chunk.id
    FROM sessions_app_turn turn JOIN branch ON turn.id = branch.parent_id AND branch.chunk_id IS NULL
    LEFT JOIN sessions_app_historychunk chunk ON chunk.last_turn_id = turn.id AND chunk.id <= %s
)
SELECT turn.public, turn.kind, turn.route, turn.refused_in, blob.sha256, blob.id, turn.language,
    branch.chunk_id
FROM branch
JOIN sessions_app_turn turn ON turn.id = branch.id
JOIN sessions_app_blob blob ON blob.id = turn.content_id
ORDER BY turn.depth
"""
"""The walk up to the newest history chunk, with the columns that a request is built from but the contents.

A chunk that ends at the head itself, made on another branch, does not count.
"""

ANY_CHUNK = 2**63 - 1
"""Larger than every key of a chunk."""

MESSAGE = f"""{WALK}
SELECT turn.* FROM sessions_app_turn turn JOIN branch ON turn.id = branch.id
WHERE turn.kind = 'user_task' ORDER BY turn.depth DESC LIMIT 1
"""  # noqa: S608
"""The newest user task of the walk."""

EXCHANGE = f"""{WALK}
SELECT exchange.id FROM sessions_app_turn turn JOIN branch ON turn.id = branch.id
LEFT JOIN sessions_app_turn origin ON origin.id = turn.origin_id
JOIN sessions_app_exchange exchange ON exchange.id = COALESCE(turn.exchange_id, origin.exchange_id)
WHERE exchange.prompt_tokens > 0 AND exchange.session_id = turn.session_id
ORDER BY turn.depth DESC LIMIT 1
"""  # noqa: S608
"""The exchange with a counted prompt that produced the newest such turn, or what it stands for."""
