"""`python -m tests.conformance FOLDER`: the table, and every difference."""

import sys
from pathlib import Path

from tests.conformance.comparison import DIFFERS, compare_folder, render_table, skipped

folder = Path(sys.argv[1])
verdicts = compare_folder(folder)
print(render_table(verdicts))
print()
for reason, count in skipped(folder).most_common():
    print(f"{count:4} left out: {reason}")
for verdict in verdicts:
    if verdict.outcome == DIFFERS:
        print(f"\n{verdict.exchange}: {verdict.rule}\n  recorded {verdict.theirs}\n  emulator {verdict.ours}")
