"""Probes that check our assumptions about a provider, through our own gateway.

Without Django. `probes` lists them, `checks`, `cache_checks` and `wire_checks` have what each one asks,
`probe_context` what they share. `cost_plan` says what they may cost, `runner` runs them and fills the
`report`, whose exchanges `wire_log` records and `masking` cleans; `comparison` sets two reports side by
side by their `wire_form`. `manage.py conform` runs it.
"""
