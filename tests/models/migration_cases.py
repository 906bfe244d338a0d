"""What has to hold in a database of version 0011 after each later migration; every one adds its case.

Each function runs on the opened database of `test_migrations` and raises AssertionError.
"""

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission, User
from django.db import IntegrityError, connection, transaction

from sessions_app.log_codes import LoggedAction
from sessions_app.models import (
    Allowance,
    Assistant,
    AuditEntry,
    Blob,
    BlobSlice,
    Booking,
    CacheEntry,
    CacheEvent,
    CacheRefusal,
    CaptureAddress,
    CapturedRequest,
    ContentGrant,
    DatabaseProbe,
    Exchange,
    ExchangeAttempt,
    FileChange,
    Folder,
    HistoryDrop,
    ImportJob,
    McpServer,
    ModelFacts,
    ModelLifecycle,
    PersonalLimits,
    PersonalUsage,
    Preferences,
    Price,
    ProviderFileRemoval,
    RawChunk,
    Reservation,
    RetentionRules,
    Run,
    RunLog,
    SeededLifecycle,
    Session,
    SharedLink,
    ToolCall,
    Turn,
)
from sessions_app.models.audit_entry import record
from sessions_app.models.blob import digest
from sessions_app.models.price import SeededPrice
from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.prompt.caching import EntryReason
from sessions_app.prompt.citations import may_cite
from tests.models.money import (
    answers_without_their_end_are_bounds_in_every_sum,
    bookings_know_their_answers,
    every_amount_is_a_booking_whose_source_is_unknown,
    no_old_booking_has_tokens_of_tools,
    searches_have_prices_and_no_old_exchange_was_counted,
    sums_of_sessions_and_days_are_those_of_their_bookings,
    what_is_an_estimate_is_known_where_there_is_evidence,
)


def figures_are_empty_for_old_rows() -> None:
    assert not Exchange.objects.exclude(verdict_figures={}).exists()
    assert all(exchange.found_verdict is None for exchange in Exchange.objects.all())


def sentences_are_kept_as_text() -> None:
    judged = Exchange.objects.exclude(verdict="")
    assert judged.exists()
    for exchange in judged:
        assert {"verdict", "cache_plan", "strategy"} <= exchange.earlier_wording.keys()


def reasons_of_caches_are_codes() -> None:
    kept = set(CacheEntry.objects.values_list("state", "reason"))
    assert ("doomed", EntryReason.ROLLED_ON) in kept
    refused = CacheEntry.objects.exclude(said="")
    assert "limit exceeded" in refused.get().said and not refused.filter(reason__contains=" ").exists()


def offered_prices_are_known() -> None:
    models = set(Price.objects.values_list("model", flat=True))
    assert SeededPrice.objects.exists() and models >= set(SeededPrice.objects.values_list("model", flat=True))


def runs_and_logs_are_readable() -> None:
    assert Run.objects.exists() and all(log.wires for log in RunLog.objects.all())


def renamed_rows_keep_their_values() -> None:
    assert CacheRefusal.objects.exists() and not CacheRefusal.objects.filter(model="").exists()
    assert Session.objects.filter(head_version__gt=0).exists()
    codenames = Permission.objects.filter(content_type__model="cacherefusal").values_list(
        "codename", flat=True
    )
    assert sorted(codenames) == [f"{verb}_cacherefusal" for verb in ("add", "change", "delete", "view")]


def old_turns_close_nothing() -> None:
    assert Turn.objects.exists() and not Turn.objects.filter(closing=True).exists()
    assert not ToolCall.objects.exists()


def no_signature_is_refused_in_old_rows() -> None:
    assert Turn.objects.exclude(exchange=None).exists() and not Turn.objects.exclude(refused_in=None).exists()


def no_old_exchange_continues_another() -> None:
    assert Exchange.objects.exists() and not Exchange.objects.exclude(continues=None).exists()


def refusals_are_not_calibrated_and_the_probe_can_write() -> None:
    assert CacheRefusal.objects.exists()
    assert {refusal.calibration for refusal in CacheRefusal.objects.all()} == {1.0}
    DatabaseProbe.write()
    DatabaseProbe.write()
    assert DatabaseProbe.objects.count() == 1


def blobs_of_one_row_are_read_as_before() -> None:
    blobs = list(Blob.objects.exclude(size=0))
    assert blobs and not BlobSlice.objects.exists()
    assert all(digest(blob.bytes) == blob.sha256 for blob in blobs)


def no_session_is_hidden_by_an_import() -> None:
    assert Session.objects.exists() and not Session.objects.filter(is_importing=True).exists()
    assert not ImportJob.objects.exists()
    assert all(turn.whole_text == turn.text for turn in Turn.objects.all())


def nobody_is_limited_and_no_old_run_counts_as_sent() -> None:
    assert not PersonalLimits.objects.exists() and not PersonalUsage.objects.exists()
    assert Run.objects.exists() and not Run.objects.exclude(sent_at=None).exists()


def no_address_is_made_up_for_old_exchanges() -> None:
    assert Exchange.objects.exists() and not Exchange.objects.exclude(base_url="").exists()


def no_import_is_of_another_format() -> None:
    assert not ImportJob.objects.exclude(format="", notes=[]).exists()


def what_becomes_of_models_is_known() -> None:
    rows = set(ModelLifecycle.objects.values_list("model", "valid_from"))
    assert rows and rows == set(SeededLifecycle.objects.values_list("model", "valid_from"))


def caches_have_the_events_that_their_rows_tell() -> None:
    told = {(event.entry.state, event.kind, event.reason) for event in CacheEvent.objects.all()}
    assert ("live", CacheEventKind.MADE, "") in told
    assert ("doomed", CacheEventKind.DROPPED, EntryReason.UNKNOWN) in told
    assert not CacheEvent.objects.filter(entry__name="").exists()


def losses_follow_from_the_counts() -> None:
    known = Exchange.objects.exclude(verdict__in=("", "unknown")).exclude(prompt_tokens=None)
    assert known.exists() and not known.filter(lost_tokens=None).exists()
    for exchange in known.select_related("previous"):
        was_cached = (exchange.previous.cached_tokens or 0) if exchange.previous else 0
        lost = max(0, min(was_cached, exchange.prompt_tokens or 0) - (exchange.cached_tokens or 0))
        assert exchange.lost_tokens == lost and (exchange.lost_usd is None) == bool(
            lost and not exchange.price
        )


def neither_attempts_nor_times_are_made_up_for_old_exchanges() -> None:
    assert Exchange.objects.exists() and not ExchangeAttempt.objects.exists()
    assert not Exchange.objects.filter(total_ms=0).exists()


def no_old_call_is_of_unknown_outcome() -> None:
    assert not ToolCall.objects.filter(may_have_run=True).exists()


def nothing_is_shared_and_no_number_of_links_is_set() -> None:
    assert not SharedLink.objects.exists()
    assert not PersonalLimits.objects.exclude(shared_links=None).exists()


def old_answers_cite_what_their_chunks_name() -> None:
    assert not any(may_cite(bytes(body)) for body in RawChunk.objects.values_list("body", flat=True))
    assert Turn.objects.exists() and not any(turn.cited for turn in Turn.objects.all())


def nobody_has_chosen_a_view() -> None:
    assert User.objects.exists() and not Preferences.objects.exists()


def nobody_has_a_folder_and_no_chat_is_in_one() -> None:
    assert Session.objects.exists() and not Session.objects.exclude(folder=None).exists()
    assert not Folder.objects.exists()


def no_old_run_says_what_it_asked_and_no_model_is_praised() -> None:
    assert Run.objects.exists() and not Run.objects.exclude(model="", thinking_level="").exists()
    assert not ModelFacts.objects.exclude(summary="").exists()


def every_old_assistant_is_the_installations() -> None:
    assert not Assistant.objects.exclude(owner=None).exists()
    assert not Assistant.objects.exclude(instructions="", model="", starters=[]).exists()


def there_is_no_address_for_other_programs() -> None:
    assert User.objects.exists() and not CaptureAddress.objects.exists()


def nothing_was_captured() -> None:
    assert Exchange.objects.exists() and not CapturedRequest.objects.exists()


def every_old_session_is_a_chat_of_no_agent() -> None:
    assert Session.objects.exists() and not Session.objects.exclude(origin="chat").exists()
    assert Run.objects.exists() and not Run.objects.exclude(lane="", lane_role="").exists()
    assert not Exchange.objects.filter(uses_client_key=True).exists()


def outcomes_and_ledgers_are_kept() -> None:
    assert Run.objects.exclude(outcome="").exists() and Exchange.objects.exclude(ledger={}).exists()


def an_address_passes_the_programs_key_on() -> None:
    row, _ = CaptureAddress.issue(User.objects.earliest("pk").pk, "made after the migration")
    captured = CapturedRequest.objects.create(address=row, received_at=row.created_at)
    assert not row.uses_server_key and not captured.uses_server_key and captured.key_hash == ""
    row.delete()


def no_old_run_has_waited_for_a_person() -> None:
    """And no call was asked about: what had begun or not stays so."""
    assert Run.objects.exists() and not McpServer.objects.exists()
    assert not Run.objects.exclude(parked={}, waited_seconds=0, waiting_since=None).exists()
    assert not ToolCall.objects.exclude(decision="", asked_at=None, expires_at=None).exists()


def no_old_session_has_changed_a_file() -> None:
    assert Session.objects.exists() and not FileChange.objects.exists()


def no_old_session_has_let_messages_go() -> None:
    assert Session.objects.exists() and not HistoryDrop.objects.exists()


def nothing_was_purged_and_no_rule_is_set() -> None:
    assert Exchange.objects.exists() and not Exchange.objects.exclude(payload_purged_at=None).exists()
    assert not RetentionRules.objects.exists() and RetentionRules.current().trash_days == 30


def no_stored_rule_or_price_is_outside_its_bounds() -> None:
    assert RetentionRules.current().trash_days < 36_500
    assert Price.objects.exists() and not Price.objects.filter(input__lt=0).exists()


def no_file_waits_for_its_removal() -> None:
    assert not ProviderFileRemoval.objects.exists()


def the_log_is_append_only() -> None:
    entry = record(LoggedAction.EXPORTED)
    assert AuditEntry.objects.filter(pk=entry.pk).exists()
    for change in ("UPDATE sessions_app_auditentry SET actor = 'x'", "DELETE FROM sessions_app_auditentry"):
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(change)


def nobody_may_read_what_others_wrote() -> None:
    assert User.objects.exists() and not ContentGrant.objects.exists()
    assert not Permission.objects.filter(codename="read_content", user__isnull=False).exists()


def allowances_are_of_people_and_nothing_is_reserved() -> None:
    assert not Allowance.objects.exclude(owner__isnull=False, group=None, everybody=None).exists()
    assert not Exchange.objects.exclude(reserved_usd=None).exists()
    assert not Reservation.objects.exists()
    small = Allowance.objects.create(is_ceiling=True, usd_per_day=Decimal("0.00000001"))
    assert Allowance.objects.get(is_ceiling=True).usd_per_day == Decimal("0.00000001")
    small.delete()


def rows_can_be_found_by_their_time() -> None:
    with connection.cursor() as cursor:
        for model, name in (
            (Exchange, "exchange_by_time"),
            (Run, "run_by_time"),
            (Booking, "booking_by_day"),
        ):
            assert name in connection.introspection.get_constraints(cursor, model._meta.db_table)


def no_payload_was_purged_before() -> None:
    assert Session.objects.exists() and not Session.objects.exclude(payload_purges=0).exists()


def no_assistant_brings_tools_of_the_provider() -> None:
    assert not Assistant.objects.exclude(provider_tools=[], answer_schema="").exists()


def no_assistant_brings_examples() -> None:
    assert not Assistant.objects.exclude(examples=[], variables=[]).exists()


def no_fact_says_what_tools_a_model_takes() -> None:
    assert not ModelFacts.objects.exclude(own_tools=None, mixes_tools=None).exists()


def no_old_answer_was_asked_for_as_json() -> None:
    assert Turn.objects.exists() and all(turn.schema_fit is None for turn in Turn.objects.all())


def lists_of_the_admin_are_found_by_an_index() -> None:
    names = {"model", "verdict", "outcome", "response", "error"}
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, Exchange._meta.db_table)
    assert {f"exchange_by_{name}" for name in names} <= found.keys()


def each_session_of_an_exchange_is_in_one_index() -> None:
    """As is what else begins the columns of another index; that of the open exchanges stays."""
    keys = {Blob: "owner_id", Booking: "owner_id", Exchange: "session_id", RawChunk: "exchange_id"}
    for model, column in (keys | {Run: "session_id", RunLog: "run_id", Turn: "session_id"}).items():
        with connection.cursor() as cursor:
            found = connection.introspection.get_constraints(cursor, model._meta.db_table)
        alone = {
            name
            for name, one in found.items()
            if one["index"] and not one["unique"] and one["columns"] == [column]
        }
        assert alone == ({"exchange_open"} if model is Exchange else set())
        assert any(one["columns"][:1] == [column] for one in found.values() if one["index"] or one["unique"])


CASES: dict[str, Callable[[], None]] = {
    "0012_verdict_figures": figures_are_empty_for_old_rows,
    "0013_earlier_wording": sentences_are_kept_as_text,
    "0014_sentences_gone": reasons_of_caches_are_codes,
    "0015_seeded_prices": offered_prices_are_known,
    "0016_drop_attempts": runs_and_logs_are_readable,
    "0017_cache_refusal": renamed_rows_keep_their_values,
    "0018_refused_signatures": no_signature_is_refused_in_old_rows,
    "0019_tool_calls": old_turns_close_nothing,
    "0020_exchange_continues": no_old_exchange_continues_another,
    "0021_database_probe": refusals_are_not_calibrated_and_the_probe_can_write,
    "0022_blob_slice": blobs_of_one_row_are_read_as_before,
    "0023_import_jobs": no_session_is_hidden_by_an_import,
    "0024_personal_limits": nobody_is_limited_and_no_old_run_counts_as_sent,
    "0025_exchange_base_url": no_address_is_made_up_for_old_exchanges,
    "0026_import_formats": no_import_is_of_another_format,
    "0027_cache_events": caches_have_the_events_that_their_rows_tell,
    "0031_model_lifecycle": what_becomes_of_models_is_known,
    "0028_exchange_loss": losses_follow_from_the_counts,
    "0033_exchange_attempt": neither_attempts_nor_times_are_made_up_for_old_exchanges,
    "0034_tool_call_may_have_run": no_old_call_is_of_unknown_outcome,
    "0037_preferences": nobody_has_chosen_a_view,
    "0048_turn_citations": old_answers_cite_what_their_chunks_name,
    "0042_shared_links": nothing_is_shared_and_no_number_of_links_is_set,
    "0046_folders": nobody_has_a_folder_and_no_chat_is_in_one,
    "0044_run_model": no_old_run_says_what_it_asked_and_no_model_is_praised,
    "0045_own_assistants": every_old_assistant_is_the_installations,
    "0050_capture_addresses": there_is_no_address_for_other_programs,
    "0051_captured_requests": nothing_was_captured,
    "0053_captured_sessions": every_old_session_is_a_chat_of_no_agent,
    "0119_help_texts": outcomes_and_ledgers_are_kept,
    "0118_answer_keys": bookings_know_their_answers,
    "0117_estimates": what_is_an_estimate_is_known_where_there_is_evidence,
    "0116_tool_use_tokens": no_old_booking_has_tokens_of_tools,
    "0115_bounds_and_labels": no_stored_rule_or_price_is_outside_its_bounds,
    "0114_cut_off_bookings": answers_without_their_end_are_bounds_in_every_sum,
    "0113_redundant_indexes": each_session_of_an_exchange_is_in_one_index,
    "0112_prompt_templates_of_assistants": no_assistant_brings_examples,
    "0111_mcp_servers": no_old_run_has_waited_for_a_person,
    "0107_assistant_tools": no_assistant_brings_tools_of_the_provider,
    "0108_search_prices": searches_have_prices_and_no_old_exchange_was_counted,
    "0110_facts_of_tools": no_fact_says_what_tools_a_model_takes,
    "0109_answer_fit": no_old_answer_was_asked_for_as_json,
    "0085_indexes_of_admin_lists": lists_of_the_admin_are_found_by_an_index,
    "0061_payload_purges": no_payload_was_purged_before,
    "0060_file_changes": no_old_session_has_changed_a_file,
    "0095_history_drops": no_old_session_has_let_messages_go,
    "0059_provider_file_removal": no_file_waits_for_its_removal,
    "0058_retention": nothing_was_purged_and_no_rule_is_set,
    "0052_captured_keys": an_address_passes_the_programs_key_on,
    "0054_audit_log": the_log_is_append_only,
    "0055_content_grants": nobody_may_read_what_others_wrote,
    "0056_budgets": allowances_are_of_people_and_nothing_is_reserved,
    "0057_times": rows_can_be_found_by_their_time,
    "0029_bookings": every_amount_is_a_booking_whose_source_is_unknown,
    "0030_book_the_past": sums_of_sessions_and_days_are_those_of_their_bookings,
}
