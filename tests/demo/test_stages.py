from dataclasses import replace

from examples.demo.stages import STAGES
from examples.rig.load import Load

STAGE = replace(STAGES[0], load=Load(workers=4, rate_per_worker=10))


def test_a_stage_is_a_run_with_its_parameters() -> None:
    options = STAGE.run_options()
    assert "--rate=40" in options
    assert "--param=stage=naive" in options
    assert "--param=db-delay=200ms" in options
    assert "--param=clients=4" in options
