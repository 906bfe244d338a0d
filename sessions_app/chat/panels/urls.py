from django.urls import path

from sessions_app.chat.panels import files, history, views

urlpatterns = [
    path("details/", views.details, name="details"),
    path("panels/", views.heads, name="panels"),
    path("panels/<slug:key>/", views.panel, name="panel"),
    path("panels/<slug:key>/raw/", views.raw, name="panel-raw"),
    path("panels/<slug:key>/switch/", views.switch, name="switch-panel"),
    path("panels/<slug:key>/turn/", views.turn, name="turn-panel"),
    path("acts/<slug:name>/", views.act, name="panel-act"),
    path("acts/<slug:name>/<slug:target>/", views.act, name="panel-act"),
    path("files/", files.upload, name="upload"),
    path("files/<slug:kind>/<int:number>/text/", files.text, name="file-text"),
    path("artifacts/<int:number>/", files.download, name="download-artifact"),
    path("chunks/", history.chunks, name="chunks"),
    path("chunks/<int:number>/", history.chunk, name="chunk"),
]
