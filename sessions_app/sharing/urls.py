from django.urls import path

from sessions_app.sharing import public_views, views

urlpatterns = [
    path("s/<uuid:public>/share/", views.share, name="share"),
    path("s/<uuid:public>/share/preview/", views.preview, name="share-preview"),
    path("links/", views.links, name="shared-links"),
    path("links/<uuid:link>/revoke/", views.revoke, name="revoke-link"),
    path("shared/<str:token>/", public_views.shared, name="shared"),
    path("shared/<str:token>/files/<int:number>/", public_views.shared_file, name="shared-file"),
]
