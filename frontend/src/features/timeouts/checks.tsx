import type { TFunction } from "i18next";
import { useTranslation } from "react-i18next";
import type { TimeoutCheck, TimeoutLadder } from "@/api/timeouts/types";
import { PageMessage } from "@/ui/page-message";
import { StateMark } from "@/ui/state-mark";
import { Dim } from "@/ui/text/text";
import type { LadderView } from "./model/ladder";
import classes from "./timeouts.module.css";

/** What is wrong with the order and why it matters, what cannot be told, and what is right. */
export function Checks({ ladder, view }: { ladder: TimeoutLadder; view: LadderView }) {
  const { t } = useTranslation();
  const missing = ladder.layers.flatMap((layer) => layer.missing.map((one) => ({ ...one, of: layer.title })));
  return (
    <>
      {view.faults.length === 0 && (
        <PageMessage icon="check" title={t(view.unknown.length === 0 ? "timeouts.allRight" : "timeouts.noneWrong")}>
          {view.unknown.length > 0 && <p>{t("timeouts.noneWrongHint")}</p>}
        </PageMessage>
      )}
      {view.faults.length > 0 && (
        <section aria-labelledby="timeouts-wrong">
          <h2 id="timeouts-wrong" className={classes.heading}>
            {t("timeouts.wrongCount", { count: view.faults.length })}
          </h2>
          <ol className={classes.faults}>
            {view.faults.map((check, index) => (
              <Fault key={`${check.rule} ${check.shorter} ${check.longer}`} check={check} number={index + 1} />
            ))}
          </ol>
        </section>
      )}
      {view.unknown.length > 0 && (
        <section aria-labelledby="timeouts-unknown">
          <h2 id="timeouts-unknown" className={classes.heading}>
            {t("timeouts.cannotTell")}
          </h2>
          <ul className={classes.list}>
            {view.unknown.map((check) => (
              <li key={check.rule}>
                <StateMark tone="unknown" label={t("timeouts.verdict_unknown")} />
                <span>{check.title}</span>
                {check.missing.length > 0 && <Dim>{needs(check, ladder, t)}</Dim>}
              </li>
            ))}
          </ul>
        </section>
      )}
      {view.right.length > 0 && (
        <section aria-labelledby="timeouts-right">
          <h2 id="timeouts-right" className={classes.heading}>
            {t("timeouts.right")}
          </h2>
          <ul className={classes.list}>
            {view.right.map((check) => (
              <li key={check.rule}>
                <StateMark tone="ok" label={t("timeouts.verdict_right")} />
                <span>{check.title}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {missing.length > 0 && (
        <details className={classes.tell}>
          <summary>{t("timeouts.tell")}</summary>
          <dl>
            {missing.map((one) => (
              <div key={`${one.layer}.${one.kind}`}>
                <dt>
                  {one.of}: {one.title}
                </dt>
                <dd>{one.hint}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}

function Fault({ check, number }: { check: TimeoutCheck; number: number }) {
  const { t } = useTranslation();
  return (
    <li id={`fault-${number}`} className={classes.fault} data-severity={check.severity}>
      <span className={classes.number} data-severity={check.severity} aria-hidden="true">
        {number}
      </span>
      <div>
        <p className={classes.should}>
          <StateMark
            tone={check.severity === "error" ? "bad" : "warn"}
            label={t(`timeouts.severity_${check.severity}`)}
          />
          <Dim>
            {t("timeouts.should")}: {check.title}
          </Dim>
        </p>
        <p>{check.consequence}</p>
        <p className={classes.remedy}>{check.remedy}</p>
        {check.reference !== "" && (
          <p>
            <a href={check.reference} target="_blank" rel="noreferrer">
              {t("timeouts.source")}
            </a>
          </p>
        )}
      </div>
    </li>
  );
}

function needs(check: TimeoutCheck, ladder: TimeoutLadder, t: TFunction): string {
  const title = (layer: string) => ladder.layers.find((one) => one.layer === layer)?.title ?? layer;
  return t("timeouts.needs", { what: check.missing.map((one) => `${title(one.layer)} / ${one.title}`).join(", ") });
}
