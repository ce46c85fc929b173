"""What the expert remembers."""

from pytest_robomem.policies.expert import Memory


def test_drawers_are_told_apart_by_what_was_seen_in_them() -> None:
    memory = Memory()
    assert memory.occupied_drawer() is None
    assert memory.empty_drawer() is None
    memory.saw_drawer("top", [])
    memory.saw_drawer("middle", ["cream_cheese_1"])
    memory.saw_drawer("bottom", [])
    assert memory.occupied_drawer() == "middle"
    assert memory.empty_drawer() == "top"


def test_a_later_look_replaces_an_earlier_one() -> None:
    memory = Memory()
    memory.saw_drawer("top", [])
    memory.saw_drawer("top", ["butter_1"])
    assert memory.occupied_drawer() == "top"
    assert memory.empty_drawer() is None


def test_pours_are_counted_for_each_target() -> None:
    memory = Memory()
    assert [memory.poured("cookies_1"), memory.poured("cookies_1")] == [1, 2]
    assert memory.poured("frypan_1") == 1


def test_two_memories_share_nothing() -> None:
    first, second = Memory(), Memory()
    first.put("butter_1", "basket_1")
    first.saw_drawer("top", ["butter_1"])
    first.used_drawers.append("top")
    assert second == Memory()
