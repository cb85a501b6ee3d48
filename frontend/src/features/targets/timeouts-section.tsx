import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { timeoutsQuery } from "@/api/timeouts/queries";
import type { TimeoutCheck, TimeoutLadder, TimeoutRung } from "@/api/timeouts/types";
import { useLocale } from "@/lib/use-locale";
import { CommandLine } from "@/ui/command-line";
import { QueryFault } from "@/ui/fault/query-fault";
import { Table } from "@/ui/list/table";
import { Loading } from "@/ui/loading";
import { Section } from "@/ui/page/section";
import { StateMark } from "@/ui/state-mark";
import { Disclosure } from "@/ui/text/disclosure";
import { Dim, Hint, NameLine } from "@/ui/text/text";
import classes from "./targets-page.module.css";

const REFRESH_MS = 10_000;
const EXAMPLE = `targets:
  - job: shop
    timeouts:
      client: {request: 30s}
      app: {runtime: go, read_header: 10s, write: 30s, idle: 75s}
      pool: {max_lifetime: 5m}
      probes: [{url: "http://127.0.0.1:8080/healthz"}]`;

/** The timeouts of each path from client to database in the order of a request, and where that order does harm. */
export function TimeoutsSection() {
  const { t } = useTranslation();
  const timeouts = useQuery({ ...timeoutsQuery(useLocale()), refetchInterval: REFRESH_MS });
  return (
    <Section id="timeouts" title={t("timeouts.title")} aside={t("timeouts.lead")}>
      <QueryFault title={t("timeouts.failed")} query={timeouts} />
      {timeouts.isPending && <Loading height={120} label={t("timeouts.loading")} />}
      {timeouts.data?.ladders.length === 0 && (
        <Disclosure summary={t("timeouts.empty")}>
          <Hint>{t("timeouts.emptyGive")}</Hint>
          <CommandLine text={EXAMPLE} />
          <Hint>{t("timeouts.emptyFound")}</Hint>
        </Disclosure>
      )}
      {timeouts.data?.ladders.map((ladder) => (
        <Path key={ladder.job} ladder={ladder} />
      ))}
    </Section>
  );
}

function Path({ ladder }: { ladder: TimeoutLadder }) {
  const { t } = useTranslation();
  const { layers, checks } = ladder;
  const wrong = checks.filter(({ verdict }) => verdict === "wrong");
  const unknown = checks.filter(({ verdict }) => verdict === "unknown");
  const missing = layers.flatMap((layer) => layer.missing.map((one) => ({ ...one, of: layer.title })));
  const summary =
    wrong.length > 0
      ? t("timeouts.wrongCount", { count: wrong.length })
      : t(unknown.length > 0 ? "timeouts.noneWrong" : "timeouts.allRight");
  return (
    <>
      <NameLine>
        {ladder.job === "" ? t("timeouts.discovered") : ladder.job}
        <StateMark tone={wrong.length > 0 ? "bad" : unknown.length > 0 ? "unknown" : "ok"} label={summary} />
      </NameLine>
      {ladder.direct && <Hint>{t("timeouts.direct")}</Hint>}
      {wrong.map((check) => (
        <Fault key={check.rule} check={check} />
      ))}
      <Table bare label={t("timeouts.title")} className={classes.timeouts ?? ""}>
        <thead>
          <tr>
            <th scope="col">{t("timeouts.layer")}</th>
            <th scope="col">{t("timeouts.kind")}</th>
            <th scope="col" data-number="true">
              {t("timeouts.value")}
            </th>
            <th scope="col">{t("timeouts.origin")}</th>
          </tr>
        </thead>
        <tbody>
          {layers.flatMap((layer) =>
            layer.rungs.map((rung) => (
              <tr key={rung.id} data-in-force={rung.in_force}>
                <th scope="row">{layer.title}</th>
                <td>
                  {rung.title}{" "}
                  {wrong.some(({ shorter, longer }) => shorter === rung.id || longer === rung.id) && (
                    <StateMark tone="bad" label={t("timeouts.order")} bare />
                  )}
                </td>
                <td data-number="true">{rung.text}</td>
                <td>
                  <Origin rung={rung} />
                </td>
              </tr>
            )),
          )}
        </tbody>
      </Table>
      {unknown.length + missing.length > 0 && (
        <Disclosure summary={t("timeouts.cannotTell")}>
          {unknown.map(({ rule, title }) => (
            <Hint key={rule}>{title}</Hint>
          ))}
          {missing.map((one) => (
            <Hint key={`${one.layer}.${one.kind}`}>
              <strong>
                {one.of}: {one.title}
              </strong>{" "}
              {one.hint}
            </Hint>
          ))}
        </Disclosure>
      )}
    </>
  );
}

function Origin({ rung }: { rung: TimeoutRung }) {
  const { t } = useTranslation();
  return (
    <>
      {rung.names.length > 0 && `${rung.names.join(", ")} `}
      {rung.said.map(({ origin, field }) => (
        <Dim key={`${origin} ${field}`}>
          {t(`timeouts.origin_${origin}`)} <code>{field}</code>{" "}
        </Dim>
      ))}
      {!rung.in_force && <Dim>{t("timeouts.overruled")}</Dim>}
    </>
  );
}

/** Which order should hold, what happens where it does not, and what to change. */
function Fault({ check }: { check: TimeoutCheck }) {
  const { t } = useTranslation();
  return (
    <div className={classes.fault}>
      <StateMark tone={check.severity === "error" ? "bad" : "warn"} label={t(`timeouts.severity_${check.severity}`)} />{" "}
      <Dim>{t("timeouts.should", { order: check.title })}</Dim>
      <p>
        {check.consequence} <strong>{check.remedy}</strong>{" "}
        {check.reference !== "" && (
          <a href={check.reference} target="_blank" rel="noreferrer">
            {t("timeouts.source")}
          </a>
        )}
      </p>
    </div>
  );
}
