"""Recorded traffic beside the emulator: what the recordings say of a model family, and whether it answers so.

`recorded` reads the files, `suitability` leaves out what cannot be judged, `playback` asks the emulator
the same, `rules` say what two answers must share and `comparison` compares them. `observations` and
`derivation` read the table of forms from recordings, `leave_one_out` judges each source with the table of
the others, `report` writes it all as text. Nothing here knows the name of a recording.
"""
