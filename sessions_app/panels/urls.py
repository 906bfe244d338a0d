from django.urls import path

from sessions_app.panels import change_views, file_views, views

urlpatterns = [
    path("panels/", views.list_panels, name="panels"),
    path("panels/<slug:key>/", views.panel, name="panel"),
    path("panels/<slug:key>/raw/", views.raw_panel, name="panel-raw"),
    path("panels/<slug:key>/switch/", views.switch_panel, name="switch-panel"),
    path("panels/<slug:key>/turn/", views.turn_page, name="turn-panel"),
    path("panels/<slug:key>/actions/<slug:name>/", views.run_action, name="panel-action"),
    path("tools/<slug:name>/switch/", views.switch_tool, name="switch-tool"),
    path("files/", file_views.upload, name="upload"),
    path("workspace/fill/", file_views.fill, name="fill"),
    path("workspace/file/<path:path>", file_views.workspace_file, name="workspace-file"),
    path("workspace/all.zip", file_views.workspace_archive, name="workspace-archive"),
    path("files/<slug:kind>/<int:number>/text/", file_views.text, name="file-text"),
    path("changes/<slug:change>/", change_views.file_change, name="file-change"),
    path("changes/<slug:change>/undo/", change_views.undo_change, name="undo-change"),
    path("artifacts/<int:number>/", file_views.download, name="download-artifact"),
]
