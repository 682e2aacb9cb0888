"""Each test that docs/traps.md names fails when the care that it defends is taken away, and holds otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from .cares import CARES, Care
from .package_copy import Outcome, run

pytestmark = pytest.mark.slow
TESTS = sorted({care.test for care in CARES})
AT_ONCE = 2


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Outcome]]]:
    """What becomes of the tests without each care that is asked for, two at a time."""
    asked = [item.callspec.params.get("care") for item in request.session.items if hasattr(item, "callspec")]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            care.name: pool.submit(run, [care.test], tmp_path_factory.mktemp("copy"), care)
            for care in asked
            if isinstance(care, Care)
        }
        pool.shutdown(cancel_futures=True)


def test_with_every_care_all_tests_hold(tmp_path_factory: pytest.TempPathFactory) -> None:
    outcome = run(TESTS, tmp_path_factory.mktemp("copy"))
    assert outcome.code == 0, outcome.words
    assert outcome.tests >= len(TESTS)


@pytest.mark.parametrize("care", CARES, ids=lambda care: care.name)
def test_without_the_care_its_test_fails(care: Care, outcomes: dict[str, Future[Outcome]]) -> None:
    outcome = outcomes[care.name].result()
    assert outcome.code == 1, (
        f"{care.test} does not fail where {care.file} has {care.new!r}:\n{outcome.words}"
    )
    assert outcome.failures == ("assertion",), f"it fails by accident:\n{outcome.words}"
