"""Requests of other programs: relayed, recorded, and grouped into sessions."""
