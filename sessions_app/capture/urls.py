from django.urls import path

from sessions_app.capture import views

urlpatterns = [
    path("capture/", views.capture, name="capture"),
    path("capture/list/", views.capture_list, name="capture-list"),
    path(
        "capture/addresses/<uuid:address>/<str:change>/", views.change_address, name="change-capture-address"
    ),
    path("capture/sessions/<uuid:public>/", views.regroup, name="regroup"),
    path("capture/requests/<uuid:captured>/", views.captured_request, name="captured-request"),
    path("capture/requests/<uuid:captured>/erase/", views.erase_captured, name="erase-captured"),
    path("capture/requests/<uuid:captured>/<str:what>/", views.captured_body, name="captured-body"),
]
