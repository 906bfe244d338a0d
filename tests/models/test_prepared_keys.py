"""Compiled queries for lists of keys find what Django's find."""

import pytest
from django.contrib.auth.models import Group
from django.db.models import CharField
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from pytest_django import DjangoAssertNumQueries

from sessions_app.models.prepared import Parameter
from sessions_app.models.prepared_keys import FEWEST, MOST, ReadingOf

LARGEST = 2 * MOST + 5

_named: ReadingOf[Group] = ReadingOf(
    lambda keys: Group.objects.filter(pk__in=keys).exclude(name=Parameter("but", CharField())).order_by("pk")
)


class TestKeys(TestCase):
    @classmethod
    def setUpTestData(cls) -> None:
        Group.objects.bulk_create(Group(pk=pk, name=f"group {pk}") for pk in range(1, LARGEST, 3))

    @given(st.sets(st.integers(1, LARGEST), max_size=4 * FEWEST))
    def test_the_rows_are_those_of_the_query(self, keys: set[int]) -> None:
        expected = list(Group.objects.filter(pk__in=keys).exclude(name="group 4").order_by("pk"))
        assert _named.all(keys, but="group 4") == expected

    def test_more_keys_than_a_statement_takes_are_read_in_several(self) -> None:
        with self.assertNumQueries(3):
            found = _named.all(range(1, LARGEST), but="")
        assert found == list(Group.objects.order_by("pk"))


@pytest.mark.django_db
def test_without_keys_nothing_is_asked(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        assert _named.all([], but="") == []
