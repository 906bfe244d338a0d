"""Tests of sessions_app/sharing."""
