import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { rulesQuery } from "@/api/alerts/queries";
import type { AlertList, RuleList } from "@/api/alerts/types";
import { formatDuration } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { Notice } from "@/ui/page/notice";
import { Hint } from "@/ui/text/text";

const RULES_MS = 15_000;
/** Longer than the longest interval that rules usually have; after it, what is shown may be old. */
const STALE_MS = 90_000;

export function useRules(refreshMs = RULES_MS) {
  return useQuery({ ...rulesQuery, refetchInterval: refreshMs, retry: false });
}

/** Groups with rules that can raise an alert. */
export function alertingGroups(rules: RuleList | undefined) {
  return (rules?.groups ?? [])
    .map((group) => ({ ...group, rules: group.rules.filter((rule) => rule.kind === "alerting") }))
    .filter((group) => group.rules.length > 0);
}

/** How many rules watch, and when they last did. */
export function WatchedLine({ list, now }: { list: AlertList; now: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const rules = useRules();
  const total = alertingGroups(rules.data).reduce((sum, group) => sum + group.rules.length, 0);
  const age = list.evaluated_ms === null ? null : Math.max(0, now - list.evaluated_ms);
  const parts = [
    rules.data === undefined ? null : t("alerts.watched", { total }),
    age === null
      ? t("alerts.neverEvaluated")
      : t("alerts.evaluated", { age: formatDuration(Math.max(1000, age), locale) }),
    list.evaluator === "elsewhere" ? t("alerts.elsewhere") : null,
  ];
  return <Hint>{parts.filter((part) => part !== null).join(" · ")}</Hint>;
}

/** What makes the list less than the truth: rules that are not evaluated, or cannot be. */
export function WatchWarnings({ list, now }: { list: AlertList; now: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const rules = useRules();
  const broken = rules.data?.files.filter((file) => file.state === "broken") ?? [];
  const partial = rules.data?.files.filter((file) => file.state === "partial") ?? [];
  const failing = rules.data?.groups.flatMap((group) => group.rules.filter((rule) => rule.health === "error")) ?? [];
  const age = list.evaluated_ms === null ? 0 : now - list.evaluated_ms;
  return (
    <>
      {age > STALE_MS && <Warning text={t("alerts.staleRules", { age: formatDuration(age, locale) })} />}
      {broken.length > 0 && (
        <Warning text={t("alerts.brokenFiles", { total: broken.length, path: broken[0]?.path ?? "" })} link />
      )}
      {partial.length > 0 && (
        <Warning text={t("alerts.partialFiles", { total: partial.length, path: partial[0]?.path ?? "" })} link />
      )}
      {failing.length > 0 && (
        <Warning text={t("alerts.failingRules", { total: failing.length, name: failing[0]?.name ?? "" })} link />
      )}
    </>
  );
}

function Warning({ text, link = false }: { text: string; link?: boolean }) {
  const { t } = useTranslation();
  return (
    <Notice role="alert">
      {text} {link && <Link to="/alerts/rules">{t("alerts.toRules")}</Link>}
    </Notice>
  );
}
