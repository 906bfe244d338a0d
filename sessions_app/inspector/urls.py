from django.urls import path

from sessions_app.inspector import downloads, views

SESSION = "s/<uuid:public>/inspect/"
EXCHANGE = SESSION + "<int:number>/"

urlpatterns = [
    path(SESSION, views.exchanges, name="exchanges"),
    path(SESSION + "news/", views.updates, name="exchanges-news"),
    path(SESSION + "since/", views.since, name="exchanges-since"),
    path(SESSION + "savings/", views.savings, name="session-savings"),
    path(SESSION + "signatures/", views.signatures, name="session-signatures"),
    path(SESSION + "refused/<uuid:run>/", views.refused, name="refused-run"),
    path(EXCHANGE, views.exchange, name="exchange"),
    path(EXCHANGE + "whole/<slug:what>/<int:index>/", views.full_text, name="exchange-whole"),
    path(EXCHANGE + "diff/<int:other>/<slug:place>/", views.change, name="exchange-change"),
    path(EXCHANGE + "rendition-<int:index>.json", downloads.rendition, name="exchange-rendition"),
    path(EXCHANGE + "request.json", downloads.request_body, name="exchange-request"),
    path(EXCHANGE + "response.ndjson", downloads.response_chunks, name="exchange-response"),
    path(EXCHANGE + "program/<slug:name>", downloads.program, name="exchange-program"),
    path(EXCHANGE + "exchange.har", downloads.har_file, name="exchange-har"),
    path(EXCHANGE + "exchange.json", downloads.bundle_file, name="exchange-bundle"),
]
