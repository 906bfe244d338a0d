"""The tabs of one exchange, one file each, in the order of the page."""

from sessions_app.inspector.tabs.base import Tab
from sessions_app.inspector.tabs.cache import CacheTab
from sessions_app.inspector.tabs.diff import DiffTab
from sessions_app.inspector.tabs.layers import LayersTab
from sessions_app.inspector.tabs.pipeline import PipelineTab
from sessions_app.inspector.tabs.renditions import RenditionsTab
from sessions_app.inspector.tabs.response import ResponseTab
from sessions_app.inspector.tabs.signatures import SignaturesTab
from sessions_app.inspector.tabs.stream import StreamTab
from sessions_app.inspector.tabs.wire import WireTab

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
    """The tab with this id; the first one for anything else, so that an old link still opens a page."""
    return next((tab for tab in TABS if tab.id == name), TABS[0])
