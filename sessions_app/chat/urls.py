from django.urls import path

from sessions_app.chat import files, views

urlpatterns = [
    path("", views.sessions, name="sessions"),
    path("new", views.new_session, name="new-session"),
    path("s/<uuid:public>/", views.session, name="session"),
    path("s/<uuid:public>/runs/<uuid:run>/", views.run, name="run"),
    path("s/<uuid:public>/settings/", views.settings, name="session-settings"),
    path("s/<uuid:public>/rename/", views.rename, name="rename-session"),
    path("s/<uuid:public>/delete/", views.delete, name="delete-session"),
    path("s/<uuid:public>/details/", files.details, name="details"),
    path("s/<uuid:public>/files/", files.upload, name="upload"),
    path("s/<uuid:public>/files/<int:reference>/", files.remove, name="remove-file"),
]
