"""Tests of sessions_app/documents."""
