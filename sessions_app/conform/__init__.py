"""Probes that check our assumptions about a provider, through our own gateway.

Without Django. `probes` lists and runs them, `checks` has what each one asks, `probe_context` what they
share. `manage.py conform` runs it.
"""
