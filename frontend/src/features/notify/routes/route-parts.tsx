import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Routing } from "@/api/notify/types";
import { Section } from "@/ui/page/section";
import { StateMark } from "@/ui/state-mark";
import { Hint, NameLine } from "@/ui/text/text";
import { MatcherChips } from "../matcher-chips";
import classes from "../notify.module.css";

/** What stands beside the tree: time intervals, inhibition, and who hears of runs. */
export function RouteParts({ routing }: { routing: Routing }) {
  const { t } = useTranslation();
  return (
    <div className={classes.parts}>
      <Part title={t("notify.intervals.title")} none={t("notify.intervals.none")} hint={null}>
        {routing.time_intervals.map((interval) => (
          <li key={interval.name}>
            <NameLine>
              {interval.name}
              <StateMark
                tone={interval.active_now ? "ok" : "unknown"}
                label={t(interval.active_now ? "notify.intervals.now" : "notify.intervals.notNow")}
              />
            </NameLine>
            {interval.lines.map((line) => (
              <p key={line} className={classes.code}>
                {line}
              </p>
            ))}
          </li>
        ))}
      </Part>
      <Part title={t("notify.inhibit.title")} none={t("notify.inhibit.none")} hint={t("notify.inhibit.hint")}>
        {routing.inhibit_rules.map((rule) => (
          <li key={JSON.stringify(rule)}>
            {rule.name !== "" && <NameLine>{rule.name}</NameLine>}
            <Hint>{t("notify.inhibit.source")}</Hint>
            <MatcherChips matchers={rule.source} label={t("notify.inhibit.source")} />
            <Hint>{t("notify.inhibit.target")}</Hint>
            <MatcherChips matchers={rule.target} label={t("notify.inhibit.target")} />
            {rule.equal.length > 0 && <Hint>{t("notify.inhibit.equal", { labels: rule.equal.join(", ") })}</Hint>}
          </li>
        ))}
      </Part>
      <Part title={t("notify.notices.title")} none={t("notify.notices.none")} hint={null}>
        {routing.run_notices.map((notice) => (
          <li key={JSON.stringify(notice)}>
            <NameLine>{notice.receiver}</NameLine>
            <Hint>
              {notice.events
                .map((event) =>
                  event === "started" || event === "finished" ? t(`notify.notices.event_${event}`) : event,
                )
                .join(", ")}
            </Hint>
            {notice.matchers.length > 0 && <MatcherChips matchers={notice.matchers} />}
          </li>
        ))}
      </Part>
    </div>
  );
}

interface PartProps {
  readonly title: string;
  readonly none: string;
  readonly hint: string | null;
  readonly children: readonly ReactNode[];
}

function Part({ title, none, hint, children }: PartProps) {
  return (
    <Section title={title}>
      {hint !== null && children.length > 0 && <Hint>{hint}</Hint>}
      {children.length === 0 ? <Hint>{none}</Hint> : <ul className={classes.items}>{children}</ul>}
    </Section>
  );
}
