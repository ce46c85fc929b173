"""Setting up a run: settings, redirected arguments, and the plugin of this process."""

import pytest

from pytest_robomem.settings import Settings, SettingsError, make_settings

SETTINGS = pytest.StashKey[Settings]()


def configure_run(config: pytest.Config, values: dict[str, str | None]) -> None:
    """Validate the settings and register what this process has to do.

    Raises:
        pytest.UsageError: a setting makes no sense.
    """
    try:
        settings = make_settings(values, config.invocation_params.dir)
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from None
    from pytest_robomem.session.rollouts import check_videos  # noqa: PLC0415 - only with a policy

    check_videos(config, settings)
    config.stash[SETTINGS] = settings
    from pytest_robomem.session.collection import redirect_arguments  # noqa: PLC0415 - needs SETTINGS

    redirect_arguments(config)
    worker_input = getattr(config, "workerinput", None)
    if worker_input is None:
        from pytest_robomem.session.controller import Controller  # noqa: PLC0415 - not in workers

        config.pluginmanager.register(Controller(config, settings), "robomem_controller")
    else:
        from pytest_robomem.session.worker import Worker  # noqa: PLC0415 - only in workers

        config.pluginmanager.register(Worker(worker_input, settings), "robomem_worker")
