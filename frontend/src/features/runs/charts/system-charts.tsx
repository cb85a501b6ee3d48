import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { signalsQuery } from "@/api/queries";
import { runSignalsQuery } from "@/api/runs/queries";
import type { Run } from "@/api/runs/types";
import { panelAnswer } from "@/lib/series/live-plan";
import { type Answer, answerFromWire } from "@/lib/series/series";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { readPreference, writePreference } from "@/lib/view/preferences";
import { isLate } from "@/panels/fleet-series";
import { FleetSwitch } from "@/panels/fleet-switch";
import { furtherSignals, hasFleet, usualMode } from "@/panels/fleet-together";
import { type PanelGroup, panelsOf } from "@/panels/panel-catalogue";
import { hasValues } from "@/panels/panel-series";
import type { ChartContext } from "@/panels/run/chart-context";
import { faultText, Problem } from "@/ui/fault/problem";
import { Icon } from "@/ui/icon";
import { Section } from "@/ui/page/section";
import { Dim } from "@/ui/text/text";
import classes from "./charts.module.css";
import { SystemPanel } from "./system-panel";

/** Open until the reader folds it: what every load test is read by. */
const FIRST = "mission";
const PREFERENCE = "run-groups";

/** What the agents saw during the run, group by group; a group is asked for when it is opened. */
export function SystemCharts({ run, context }: { run: Run; context: ChartContext }) {
  const { t } = useTranslation();
  const catalogue = useQuery(signalsQuery(useLocale()));
  const [open, setOpen] = useState(() => (readPreference(PREFERENCE) ?? FIRST).split(",").filter(Boolean));
  const groups = useMemo(() => (catalogue.data === undefined ? [] : panelsOf(catalogue.data)), [catalogue.data]);
  const toggle = (id: string) => {
    const next = open.includes(id) ? open.filter((one) => one !== id) : [...open, id];
    setOpen(next);
    writePreference(PREFERENCE, next.join(","));
  };
  return (
    <Section id="system" title={t("runs.page.nav_system")} aside={t("runs.page.systemHint")}>
      {catalogue.isError && <Problem calm>{t("live.catalogueFailed")}</Problem>}
      {groups.map((group) => (
        <Group
          key={group.group.id}
          run={run}
          group={group}
          context={context}
          open={open.includes(group.group.id)}
          onToggle={() => toggle(group.group.id)}
        />
      ))}
    </Section>
  );
}

interface GroupProps {
  readonly run: Run;
  readonly group: PanelGroup;
  readonly context: ChartContext;
  readonly open: boolean;
  readonly onToggle: () => void;
}

function Group({ run, group: { group, panels }, context, open, onToggle }: GroupProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { range } = context;
  const fleet = useView().fleets[group.id];
  const signals = useMemo(() => panels.flatMap((panel) => panel.signals.map((signal) => signal.id)), [panels]);
  // How many instances there are is known by the first answer; what puts them together is asked for then.
  const [further, setFurther] = useState<readonly string[]>([]);
  const running = run.state === "running" && !run.silent;
  const query = useQuery({
    ...runSignalsQuery([...signals, ...further], range.startMs, range.endMs, locale),
    enabled: open || group.optional === true,
    refetchInterval: open && running ? 2000 : false,
    placeholderData: (former) => former,
  });
  const whole = useMemo(() => (query.data === undefined ? null : answerFromWire(query.data)), [query.data]);
  const answers = useMemo(
    () =>
      new Map<string, Answer>(
        whole === null
          ? []
          : panels.map(({ id, signals }): [string, Answer] => {
              const own = signals.map((signal) => signal.id);
              const more = further.filter((one) => own.some((signal) => one.startsWith(`${signal}@`)));
              return [id, panelAnswer(whole, [...own, ...more])];
            }),
      ),
    [whole, panels, further],
  );
  const wanted = panels.flatMap((panel) => furtherSignals(panel, answers.get(panel.id), fleet));
  if (whole !== null && wanted.join() !== further.join()) setFurther(wanted);
  const several = panels.find((panel) => hasFleet(panel, answers.get(panel.id)) && !isLate(panel));
  const loud = panels.filter((panel) => whole === null || hasValues(panel, answers.get(panel.id)));
  const quiet = panels.filter((panel) => !loud.includes(panel));
  // What is optional takes no room until there is something to see.
  if (group.optional === true && (whole === null || loud.length === 0)) return null;
  return (
    <section className={classes.group} aria-label={group.title}>
      <div className={classes.groupRow}>
        <h3 className={classes.groupHead}>
          <button type="button" aria-expanded={open} onClick={onToggle}>
            <Icon name={open ? "chevronDown" : "chevronRight"} size={14} />
            {group.title}
            {!open && <Dim>{t("live.panelCount", { count: panels.length })}</Dim>}
          </button>
        </h3>
        {open && several !== undefined && (
          <FleetSwitch group={group.id} title={group.title} usual={usualMode(several, answers.get(several.id))} />
        )}
      </div>
      {open && (
        <>
          {loud.length > 0 && (
            <div className={classes.grid}>
              {loud.map((panel) => (
                <SystemPanel
                  key={panel.id}
                  panel={panel}
                  answer={answers.get(panel.id)}
                  fleet={fleet}
                  context={context}
                  pending={query.isPending}
                  error={query.error === null ? null : faultText(query.error, t)}
                />
              ))}
            </div>
          )}
          {quiet.length > 0 && (
            <p className={classes.quiet}>
              <strong>{t("live.groupNoData")}</strong> {quiet.map((panel) => panel.title).join(" · ")}
            </p>
          )}
        </>
      )}
    </section>
  );
}
