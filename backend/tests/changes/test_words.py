from loadwatch_backend.app.changes.sightings import Change, Event
from loadwatch_backend.app.changes.watcher import MOST_NOTES, describe
from loadwatch_backend.catalogue.packs.library import shipped_catalogue

SERVICE = shipped_catalogue().changes["aws_ecs_service_info"]


def deploy(number: int) -> Change:
    return Change(
        event=Event.CHANGED,
        watch=SERVICE,
        title=f"prod/{number}",
        at_ms=number,
        tags=("deploy",),
        field=SERVICE.labels["task_definition"],
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


def test_what_comes_and_goes_is_named_by_one_and_several():
    for watch in shipped_catalogue().changes.values():
        assert len(watch.noun) == 2 or not watch.presence, watch.series
