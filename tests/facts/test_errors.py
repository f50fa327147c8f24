"""What is said of a name that nothing is known under."""

from __future__ import annotations

from rocport.facts.errors import FactError


def test_names_that_come_close_are_told_and_else_all():
    close = FactError("thing", "alpah", ["gamma", "alpha", "beta"], "Look again.")
    assert str(close) == "'alpah' is not a known thing; close: alpha. Look again." and close.suggestions == ("alpha",)
    far = FactError("thing", "zzzz", iter(["beta", "alpha"]))
    assert str(far) == "'zzzz' is not a known thing; known: alpha, beta" and far.suggestions == ()


def test_at_most_three_come_close():
    error = FactError("thing", "name", [f"name{number}" for number in range(9)])
    assert len(error.suggestions) == 3 and error.args == (error.message,)
