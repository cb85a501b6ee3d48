import { useTranslation } from "react-i18next";
import type { Reconciliation, Run } from "@/api/runs/types";
import { formatCount } from "@/lib/run-text";
import { formatClock } from "@/lib/time/time";
import { useCodeText } from "@/lib/use-code-text";
import { useView } from "@/lib/view/context";
import { Table } from "@/ui/list/table";
import { Section } from "@/ui/page/section";
import { StateMark, type Tone } from "@/ui/state-mark";
import { Hint } from "@/ui/text/text";
import classes from "../page/run-page.module.css";

const STEPS = ["sent", "answered_ok", "accepted", "stored", "rows", "failed"] as const;

/** Sent, answered, accepted, stored: numbers that should be equal, and where they part. */
export function Reconciled({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { reconciliation } = run;
  return (
    <Section
      id="reconciliation"
      title={t("runs.page.reconciliation")}
      aside={reconciliation !== null && <Place reconciliation={reconciliation} />}
    >
      {reconciliation === null ? (
        <Hint>{t("runs.page.noReconciliation")}</Hint>
      ) : (
        <Funnel reconciliation={reconciliation} />
      )}
    </Section>
  );
}

function Place({ reconciliation }: { reconciliation: Reconciliation }) {
  const { t } = useTranslation();
  const { place } = reconciliation;
  const tone: Tone = place === "none" ? "ok" : ["unknown", "not-known-yet"].includes(place) ? "unknown" : "warn";
  const label =
    tone === "ok" ? t("runs.page.allThere") : tone === "unknown" ? t("runs.page.cannotTell") : t("runs.page.differs");
  return <StateMark tone={tone} label={label} />;
}

function Funnel({ reconciliation }: { reconciliation: Reconciliation }) {
  const { t } = useTranslation();
  const codeText = useCodeText();
  const { zone } = useView();
  const mixed = mixedWith(reconciliation.mixed_with ?? []);
  const known = reconciliation.steps.filter((step) => step.count !== null);
  const most = Math.max(1, ...known.map((step) => step.count ?? 0));
  const count = (value: number | null) => formatCount(value === null ? null : Math.round(value));
  const of = (id: string) => known.find((step) => step.id === id)?.count ?? 0;
  const again = {
    rows: count(of("accepted") - of("stored") - of("failed")),
    time: formatClock(reconciliation.again_ms ?? 0, zone, "second"),
  };
  return (
    <>
      <ol className={classes.funnel}>
        {reconciliation.steps.map((step) => {
          const id = STEPS.find((one) => one === step.id);
          const gap = step.missing;
          return (
            <li key={step.id}>
              <span title={step.source}>{id === undefined ? step.id : t(`runs.page.step_${id}`)}</span>
              <svg className={classes.funnelBar} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                <rect className={classes.offered} width="100" height="10" />
                <rect className={classes.good} width={((step.count ?? 0) / most) * 100} height="10" />
              </svg>
              <strong className={classes.funnelCount}>
                {step.count === null ? t("runs.page.notMeasured") : count(step.count)}
              </strong>
              <span className={classes.funnelGap} data-missing={gap !== null && Math.round(gap) > 0}>
                {gap === null || Math.round(gap) === 0
                  ? ""
                  : gap > 0
                    ? t("runs.page.missing", { value: count(gap) })
                    : t("runs.page.surplus", { value: count(-gap) })}
              </span>
            </li>
          );
        })}
      </ol>
      <Hint>{codeText(`runs.page.place_${reconciliation.place}`, reconciliation.detail, again)}</Hint>
      {(reconciliation.probes ?? 0) > 0 && (
        <Hint>{t("runs.page.probesLeftOut", { count: reconciliation.probes })}</Hint>
      )}
      {mixed !== null && <Hint>{t(`runs.page.mixed_${mixed}`)}</Hint>}
      {reconciliation.instances.length > 0 && (
        <Table label={t("runs.page.byInstance")} bare className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t("runs.page.instance")}</th>
              {(["accepted", "stored", "notStored"] as const).map((id) => (
                <th key={id} scope="col" data-number>
                  {t(`runs.page.step_${id}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {reconciliation.instances.map(({ job, instance, accepted, stored, missing }) => (
              <tr key={`${job} ${instance}`}>
                <th scope="row">{instance}</th>
                <td data-number>{count(accepted)}</td>
                <td data-number>{count(stored)}</td>
                <td data-number>{count(missing)}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </>
  );
}

function mixedWith(names: readonly string[]): "previous" | "next" | "both" | null {
  const previous = names.includes("previous");
  const next = names.includes("next");
  if (previous && next) return "both";
  return previous ? "previous" : next ? "next" : null;
}
