import type { TFunction } from "i18next";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Rule, RuleGroup } from "@/api/alerts/types";
import { formatDuration, type Locale } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { CommandLine } from "@/ui/command-line";
import { Icon } from "@/ui/icon";
import { Notice } from "@/ui/page/notice";
import { Section } from "@/ui/page/section";
import { StateMark, type Tone } from "@/ui/state-mark";
import { Dim, Hint } from "@/ui/text/text";
import { ruleRank, textOf } from "../model/text";
import classes from "./rules-page.module.css";

interface Props {
  readonly group: RuleGroup;
  /** Where the group stands. */
  readonly place: string;
  /** Those of the group that are asked for. */
  readonly rules: readonly Rule[];
  readonly now: number;
  /** A search led here: the rules show what they hold. */
  readonly found: boolean;
}

/** Rules that are evaluated together, those that ask for attention first. */
export function RuleGroupPanel({ group, place, rules, now, found }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const facts = [
    t("alerts.rules.every", { interval: formatDuration(group.interval_seconds * 1000, locale) }),
    lastText(group, now, t, locale),
    group.missed > 0 ? t("alerts.rules.missed", { total: group.missed }) : null,
  ];
  return (
    <Section label={group.name}>
      <div className={classes.groupHead}>
        <h2 className={classes.partTitle}>{group.name}</h2>
        <Dim>{facts.filter((fact) => fact !== null).join(" · ")}</Dim>
        <span className={classes.path}>{place}</span>
      </div>
      <ul className={classes.rules}>
        {rules
          .toSorted((a, b) => ruleRank(a) - ruleRank(b))
          .map((rule) => (
            <RuleLine key={rule.id} rule={rule} now={now} unfolded={found && rules.length === 1} />
          ))}
      </ul>
    </Section>
  );
}

interface Evaluated {
  readonly evaluated_ms: number | null;
  readonly evaluation_seconds: number | null;
}

/** When it was last evaluated, and how long that took. */
function lastText(of: Evaluated, now: number, t: TFunction, locale: Locale): string {
  if (of.evaluated_ms === null) return t("alerts.rules.notYet");
  const age = formatDuration(Math.max(1000, now - of.evaluated_ms), locale);
  const took = formatValue(of.evaluation_seconds, "seconds", locale);
  return t("alerts.rules.last", { age, took });
}

function RuleLine({ rule, now, unfolded }: { rule: Rule; now: number; unfolded: boolean }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const [open, setOpen] = useState(unfolded);
  const summary = textOf(rule, "summary", locale);
  return (
    <li className={classes.rule}>
      <button type="button" className={classes.ruleHead} aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "chevronDown" : "chevronRight"} size={12} />
        <RuleMark rule={rule} />
        <span className={classes.ruleName}>{rule.name}</span>
        <Dim>{rule.labels.severity ?? ""}</Dim>
        <span className={classes.ruleLast}>{lastText(rule, now, t, locale)}</span>
      </button>
      {rule.error !== "" && (
        <Notice tone="bad" role="alert" icon={null}>
          {rule.error}
        </Notice>
      )}
      {open && (
        <div className={classes.ruleBody}>
          {summary !== "" && <p>{summary}</p>}
          <CommandLine text={rule.expression} copy={t("alerts.page.copy")} />
          <Hint>{conditions(rule, t, locale).join(" · ")}</Hint>
          {rule.firing + rule.pending > 0 && (
            <p>
              <Link to={`/alerts?search=${encodeURIComponent(rule.name)}`}>{t("alerts.rules.toAlerts")}</Link>
            </p>
          )}
        </div>
      )}
    </li>
  );
}

function RuleMark({ rule }: { rule: Rule }) {
  const { t } = useTranslation();
  if (rule.health === "error") return <StateMark tone="bad" label={t("alerts.rules.health_error")} />;
  if (rule.kind === "recording")
    return <StateMark tone={rule.health === "ok" ? "ok" : "unknown"} label={t("alerts.rules.recording")} />;
  const tones: Readonly<Record<Rule["state"], Tone>> = { firing: "bad", pending: "warn", inactive: "ok" };
  const counts = {
    firing: t("alerts.rules.state_firing", { total: rule.firing }),
    pending: t("alerts.rules.state_pending", { total: rule.pending }),
    inactive: t("alerts.rules.state_inactive"),
  };
  if (rule.health === "unknown") return <StateMark tone="unknown" label={t("alerts.rules.health_unknown")} />;
  return <StateMark tone={tones[rule.state]} label={counts[rule.state]} />;
}

/** What besides the expression decides. */
function conditions(rule: Rule, t: TFunction, locale: Locale): readonly string[] {
  const span = (seconds: number) => formatDuration(seconds * 1000, locale);
  const parts = [
    t("alerts.rules.line", { line: rule.line }),
    rule.for_seconds > 0 ? t("alerts.rules.for", { span: span(rule.for_seconds) }) : null,
    rule.keep_firing_for_seconds > 0 ? t("alerts.rules.keep", { span: span(rule.keep_firing_for_seconds) }) : null,
    rule.kind === "alerting" ? t(`alerts.rules.noData_${rule.no_data}`) : null,
    rule.without_data > 0 ? t("alerts.rules.withoutData", { total: rule.without_data }) : null,
  ];
  return parts.filter((part) => part !== null);
}
