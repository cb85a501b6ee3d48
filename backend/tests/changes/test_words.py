from loadwatch_backend.changes.catalogue import WATCHED
from loadwatch_backend.changes.model import Change, Event
from loadwatch_backend.changes.words import MOST_NOTES, describe

SERVICE = next(watch for watch in WATCHED if watch.metric == "aws_ecs_service_info")


def deploy(number: int) -> Change:
    return Change(
        event=Event.CHANGED,
        watch=SERVICE,
        title=f"prod/{number}",
        at_ms=number,
        tags=("deploy",),
        field=SERVICE.fields[0],
        before="a:1",
        after="a:2",
    )


def test_a_flood_of_changes_is_summed_up():
    notes = describe(deploy(number) for number in range(200))
    assert len(notes) == MOST_NOTES
    assert notes[-1].text.startswith("151 more changes at about the same time; the first: ECS service prod/49: ")
    assert notes[-1].tags == ("aws", "deploy")


def test_notes_are_in_order_of_time():
    assert [note.at_ms for note in describe([deploy(3), deploy(1), deploy(2)])] == [1, 2, 3]


def test_every_watch_has_words():
    for watch in WATCHED:
        assert watch.title
        assert watch.nouns or not watch.presence
        assert all(field.words and field.tag for field in watch.fields)
    assert len({watch.metric for watch in WATCHED}) == len(WATCHED)
