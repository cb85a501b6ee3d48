"""The headline stays short, however much could not be told: it stands above the live page, on a phone, too."""

from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.documents import findings_out, headline_of
from loadwatch_backend.findings.model import Checked, Diagnosis, DiagnosisState, Finding
from loadwatch_backend.findings.registry import DETECTORS


def test_a_headline_names_the_first_symptom_and_the_first_reason() -> None:
    kinds = [one.kind for one in DETECTORS][:6]
    needs, alone = Words("Needs 10 s.", "10秒必要。"), Words("Waits are not counted.", "待ちの計測なし。")
    unjudged = [*(Checked(kind=kind, text=needs) for kind in kinds[:5]), Checked(kind=kinds[5], text=alone)]
    symptoms = [Words(f"Threshold {at} not met.", f"閾値{at}未達。") for at in range(4)]

    def headline(unjudged: list[Checked], to_ms: int = 60_000) -> str:
        diagnosis = Diagnosis(
            state=DiagnosisState.CANNOT_TELL,
            from_ms=0,
            to_ms=to_ms,
            checked=[Checked(kind=kinds[0], text=needs)],
            unjudged=unjudged,
            symptoms=symptoms,
            observations=[Words("The CPU was full.", "CPUは上限。")],
        )
        document = findings_out(diagnosis, 0)
        assert [one.en for one in document.symptoms] == [one.en for one in symptoms]
        return headline_of(document, document.findings).text.en

    titles = ", ".join(kind.title.en for kind in kinds[:3])
    assert (
        headline(unjudged[:5])
        == f"Threshold 0 not met. Other symptoms: 3. The CPU was full. {titles} and 2 more: Needs 10 s."
    )
    # What one kind says of this run comes before what many say of its length.
    assert headline(unjudged).endswith(f" {kinds[5].title.en}: Waits are not counted.")
    # Of a moment nobody can say what sends nothing.
    assert headline(unjudged, 91).endswith("Other symptoms: 3. Needs 3 s; there were 0.091 s.")


def test_a_headline_that_cannot_tell_names_what_other_programs_took() -> None:
    kind = next(one.kind for one in DETECTORS if one.kind.id == "host-noise")
    noise = Finding(
        kind=kind,
        sentence=Words("Others took 1.7 cores.", "他が1.7コア。"),
        from_ms=0,
        to_ms=60_000,
        labels={},
        evidence=(),
    )
    diagnosis = Diagnosis(
        state=DiagnosisState.CANNOT_TELL, from_ms=0, to_ms=60_000, findings=[noise], symptoms=[Words("Slow.", "遅い。")]
    )
    document = findings_out(diagnosis, 0)
    text = headline_of(document, document.findings).text
    assert text.en.startswith("Slow. ")
    assert text.en.endswith(" Others took 1.7 cores.")
    assert text.ja.endswith("他が1.7コア。")
