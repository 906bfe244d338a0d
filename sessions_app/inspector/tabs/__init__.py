"""The tabs of one exchange, one file each, in the order of the page."""

from sessions_app.inspector.tabs.base import Tab
from sessions_app.inspector.tabs.cache_tab import CacheTab
from sessions_app.inspector.tabs.diff_tab import DiffTab
from sessions_app.inspector.tabs.layers_tab import LayersTab
from sessions_app.inspector.tabs.pipeline_tab import PipelineTab
from sessions_app.inspector.tabs.renditions_tab import RenditionsTab
from sessions_app.inspector.tabs.response_tab import ResponseTab
from sessions_app.inspector.tabs.signatures_tab import SignaturesTab
from sessions_app.inspector.tabs.stream_tab import StreamTab
from sessions_app.inspector.tabs.wire_tab import WireTab

TABS: tuple[Tab, ...] = (
    LayersTab(),
    ResponseTab(),
    SignaturesTab(),
    CacheTab(),
    DiffTab(),
    WireTab(),
    StreamTab(),
    PipelineTab(),
    RenditionsTab(),
)


def tab_named(name: str) -> Tab:
    """The tab with this id, or the first one, so that outdated links work."""
    return next((tab for tab in TABS if tab.id == name), TABS[0])
