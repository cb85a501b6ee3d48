"""Why a transfer stops. The text says why and what to do; what was acknowledged so far is not sent again."""


class TransferError(Exception):
    """It cannot go on."""


class EngineRefusesError(TransferError):
    """The engine will never take some samples as it is configured."""
