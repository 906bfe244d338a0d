"""What the start page offers: starters for a chat, and samples that show how a request is made."""

from dataclasses import dataclass

from sessions_app.panels import available_tools


@dataclass(frozen=True, slots=True)
class SamplePrompt:
    """`text` is the first message; the sample is offered only where all its `tools` are available."""

    key: str
    title: str
    description: str
    text: str
    purpose: str = ""
    background: str = ""
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Starter:
    """A first message that asks the person for the rest."""

    title: str
    text: str


STARTERS = (
    Starter("Plan a trip", "Help me plan a weekend trip. Ask me first where from, with whom and for what."),
    Starter("Explain a file", "I will attach a file. Explain it in plain words, then ask what to look at."),
    Starter("Improve a text", "I will paste a text of mine. Say what is unclear, then suggest a better one."),
    Starter("Decide something", "Help me decide. Ask me for the options and what matters, one at a time."),
)

BAKERY = """\
The reader runs a small bakery with two ovens, one apprentice and a market stall on Saturdays. She knows
her craft and has little time: an answer must be usable with flour on the hands. Give amounts in grams,
temperatures in degrees Celsius and times in minutes. Say which step can wait overnight and which
cannot. When a recipe is scaled, keep the baker's percentages and show them.

House rule 1: the white starter is fed at six in the morning and at six in the evening, one part starter
to two parts flour and two parts water; after a warm night the evening feeding moves to five.

House rule 2: the rye starter is fed once a day at noon and rests in the cool room; it is never used
before it has doubled, and a dome that has fallen in means that it is too late for bread and right for
crackers.

House rule 3: doughs above seventy-five per cent water are folded four times in the first two hours and
then left alone; below that, two folds are enough and a third one only makes the crumb tight.

House rule 4: the deck oven is heated for ninety minutes before the first loaf, and steam is given
twice: when the bread goes in and again after four minutes; the door stays shut until the twentieth
minute.

House rule 5: the small oven runs ten degrees hot at the back left corner, so trays are turned at half
time, and nothing with sugar on top stands in that corner during the last five minutes.

House rule 6: salt is two per cent of the flour in every bread, one and a half in brioche, and is
weighed on the small scale; the large scale is wrong by up to eight grams below half a kilogram.

House rule 7: butter for laminated dough is between twelve and fourteen degrees when it is rolled; if it
cracks it is too cold and waits five minutes, if it smears the dough goes back to the cool room for
twenty.

House rule 8: the cool room holds five degrees and is full by seven in the evening, so anything that has
to rest overnight is planned before noon and labelled with the hour at which it went in.

House rule 9: market days need forty country loaves, thirty rye loaves, sixty rolls and twenty-four
cinnamon buns by half past six; the order of the ovens on those days is rye, country, rolls, buns.

House rule 10: what is left on Saturday becomes crumbs for Monday, croutons for the soup kitchen or
bread pudding; nothing with nuts goes into the crumbs, since two regular customers must not eat them.

House rule 11: allergens are written on the board before the shop opens: wheat, rye, milk, eggs,
almonds, hazelnuts, sesame; when one product changes the whole board is written again, never corrected
with a finger.

House rule 12: the apprentice learns one bread at a time, bakes it alone on three days in a row and
writes down the temperature of the dough after mixing; only then comes the next bread.

House rule 13: dough temperature after mixing is twenty-four degrees in winter and twenty-two in summer;
the water temperature is worked out from flour, room and friction, and friction counts as six degrees.

House rule 14: flour is bought for two weeks, never for more; a new delivery is tried in rolls first,
and when it drinks more water than the last one the difference is noted on the sack.

House rule 15: prices are reviewed in March and in September from the cost of flour, butter, power and
hours; a loaf may go up by at most thirty cents at once, and the reason is told at the counter.

House rule 16: everything that touches egg or cream is washed at once and dried with heat; wooden boards
are for bread alone, and the one with the burnt edge is for onions and nothing else.
"""
"""Longer than the minimum of an explicit cache, 1,024 tokens (gemini-wire §7)."""

SAMPLES = (
    SamplePrompt(
        key="cache",
        title="Pay once for long instructions",
        description="The model gets a bakery handbook. The second message finds it in a cache.",
        text="Tomorrow is a market day and the cool room is already half full. What do I prepare today?",
        purpose="Help a baker plan her days and her doughs.",
        background=BAKERY,
    ),
    SamplePrompt(
        key="tools",
        title="Plan with two tools",
        description="A flight check, then a taxi: the second tool needs what the first one found.",
        text="Check flight status for AA100 and book a taxi 2 hours before if delayed.",
        purpose="Help a traveller to arrive on time.",
        tools=("check_flight", "book_taxi"),
    ),
    SamplePrompt(
        key="plain",
        title="See what the model receives",
        description="Ask anything, then open the inspector on the answer and read it layer by layer.",
        text="What did you receive from me, content by content?",
    ),
)


def available_samples() -> list[SamplePrompt]:
    available = set(available_tools().names)
    return [sample for sample in SAMPLES if available.issuperset(sample.tools)]


def find_sample(key: str) -> SamplePrompt | None:
    return next((sample for sample in available_samples() if sample.key == key), None)
