import numpy as np
from loadwatch_backend.runs.importers.tools.gatling import Strings


def test_an_endpoint_is_a_path_of_strings() -> None:
    strings = Strings(("", "shop", "買い物", "pay"))
    plain = strings.endpoints(np.array([[3], [1], [3]]))
    assert plain.tolist() == [plain[0], plain[1], plain[0]]
    nested = strings.endpoints(np.array([[1, 2, 3], [2, 1, 3], [1, 2, 3]]))
    assert nested[0] == nested[2] != nested[1]
    labels = strings.endpoint_labels(nested)
    assert [labels.names[code] for code in labels.codes] == [
        "shop / 買い物 / pay",
        "買い物 / shop / pay",
        "shop / 買い物 / pay",
    ]


def test_only_strings_that_occur_are_named() -> None:
    strings = Strings([f"text {index}" for index in range(100)])
    labels = strings.string_labels(np.array([7, 99, 7]))
    assert labels.names == ["text 7", "text 99"]
    assert labels.codes.tolist() == [0, 1, 0]
