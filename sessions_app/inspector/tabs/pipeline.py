"""What each stage of the pipeline did, before the request was sent and after."""

from dataclasses import dataclass
from itertools import takewhile

from sessions_app.inspector.notes import StoredNote, notes_of
from sessions_app.inspector.stages import Stage, stages_of
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange


@dataclass(frozen=True, slots=True)
class ShownPipeline:
    """`built` is our whole time before the call in ms, of which the stages up to `send` are a part."""

    stages: list[Stage]
    notes: tuple[StoredNote, ...]
    built: float

    @property
    def ms(self) -> float:
        return sum(stage.ms for stage in takewhile(lambda stage: stage.name != "send", self.stages))

    @property
    def rest(self) -> float:
        """Reading the session and writing the exchange: what is built but belongs to no stage."""
        return max(0.0, self.built - self.ms)

    @property
    def remarkable(self) -> list[Stage]:
        return [stage for stage in self.stages if stage.tone in ("warn", "bad")]


class PipelineTab(Tab):
    id = "pipeline"
    title = "Pipeline"

    def context(self, exchange: Exchange, *, raw: bool) -> ShownPipeline:
        return ShownPipeline(stages_of(exchange.stages), notes_of(exchange), exchange.build_ms)
