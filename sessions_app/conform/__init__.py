"""Whether a provider still does what we assume: small named probes through our own gateway.

Django-free. `bench` holds what the probes share and counts their cost, `probes` and `cached` are the list,
`report` the findings. `manage.py conform` runs it.
"""
