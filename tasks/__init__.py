"""The 26 tasks of RoboMemArena as tests, one module a family."""
