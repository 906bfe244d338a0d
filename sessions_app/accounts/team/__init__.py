"""Sign-in of a team, on django-allauth: imported only with PIPEWEB_ACCOUNTS=team.

allauth keeps the second factors, the devices and the ties to a provider, and leads through the steps of a
sign-in. Ours are the pages, the throttle (`accounts.throttle`), the audit log and the rule of which sessions
count (`rules`).
"""
