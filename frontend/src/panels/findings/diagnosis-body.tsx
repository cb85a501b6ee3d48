import { type ReactNode, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Diagnosis, Finding } from "@/api/findings/types";
import { Hint } from "@/ui/text/text";
import { CauseChain } from "./cause-chain";
import { FindingCard } from "./finding-card";
import classes from "./findings.module.css";
import { directCauses } from "./model";
import { Checked, NotChecked, Observations, SwitchOn } from "./other-answers";
import { useFindingTimes } from "./words";

interface Props {
  readonly diagnosis: Diagnosis;
  readonly findings: readonly Finding[];
  /** Of the run's clock; null of the present. */
  readonly originMs: number | null;
  /** The key of a finding that is shown whole at first. */
  readonly opened?: string | null;
  /** What can be said of a finding, where the page has something. */
  readonly tools?: (finding: Finding) => ReactNode;
}

/** All that is said of a window: the chain, the findings in order, and what was not it. */
export function DiagnosisBody({ diagnosis, findings, originMs, opened = null, tools }: Props) {
  const { t } = useTranslation();
  const times = useFindingTimes(originMs);
  const prefix = useId();
  // What the reader opens and closes stays so while the answer is renewed.
  const [first] = useState(opened);
  const causes = directCauses(findings);
  const idOf = (place: number) => `${prefix}-${place}`;
  const open = (key: string) =>
    showFinding(document.getElementById(idOf(findings.findIndex((finding) => finding.key === key))));
  const at = (places: readonly number[]) => places.flatMap((place) => findings[place] ?? []);
  return (
    <div className={classes.diagnosis}>
      <CauseChain findings={findings} causes={causes} times={times} onOpen={open} />
      {findings.length > 0 && (
        <ol className={classes.cards}>
          {findings.map((finding, place) => (
            <FindingCard
              key={finding.key}
              id={idOf(place)}
              finding={finding}
              causes={at(causes[place] ?? [])}
              effects={findings.filter((_, other) => causes[other]?.includes(place))}
              times={times}
              opened={finding.key === first}
              onOpen={open}
              tools={tools?.(finding)}
            />
          ))}
        </ol>
      )}
      <SwitchOn diagnosis={diagnosis} />
      <Observations diagnosis={diagnosis} />
      <Checked diagnosis={diagnosis} />
      <NotChecked diagnosis={diagnosis} />
      <Hint>
        {t("findings.engine", {
          engine: diagnosis.engine,
          from: times.at(diagnosis.from_ms),
          to: times.at(diagnosis.to_ms),
        })}
      </Hint>
    </div>
  );
}

/** Opens a finding and brings it into view. */
export function showFinding(details: Element | null): void {
  if (!(details instanceof HTMLDetailsElement)) return;
  details.open = true;
  details.scrollIntoView({ block: "start" });
  details.querySelector("summary")?.focus({ preventScroll: true });
}
