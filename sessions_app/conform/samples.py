"""Texts of different kinds, by which our estimate of tokens is compared with the provider's count."""

SAMPLES = {
    "english": (
        "The harbour was quiet that morning. Two boats had come in during the night, and their crews were "
        "asleep below deck while the market on the quay opened its first stalls. "
    )
    * 4,
    "german": (
        "Der Hafen war an diesem Morgen ruhig. Zwei Schiffe waren in der Nacht eingelaufen, und ihre "
        "Mannschaften schliefen unter Deck, während der Fischmarkt am Kai die ersten Stände öffnete. "
    )
    * 4,
    "chinese": "那天早上港口很安静。夜里来了两条船，船员们还在甲板下睡觉，码头上的市场已经开了第一批摊位。"
    * 6,
    "code": (
        "def shortest(paths: list[Path]) -> Path | None:\n"
        '    """The path with the fewest steps, None without any."""\n'
        "    return min(paths, key=lambda path: len(path.steps), default=None)\n\n"
    )
    * 4,
    "json": '{"id":48213,"name":"quay 7","open":true,"boats":[{"length":12.5,"crew":4},{"length":9}]}' * 6,
}
