import { NativeSelect, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { alertLabelsQuery, silencesQuery } from "@/api/notify/queries";
import type { Route, RouteAnswer } from "@/api/notify/types";
import { FaultText } from "@/ui/fault/problem";
import { Icon } from "@/ui/icon";
import { Section } from "@/ui/page/section";
import { Hint, NameLine } from "@/ui/text/text";
import { MatcherChips } from "../matcher-chips";
import { formatMatcher } from "../model/matchers";
import { conditionsTo } from "../model/routes";
import classes from "../notify.module.css";
import type { RouteQuestionState } from "./use-route-question";

/** "Where would these labels go?" */
export function RouteQuestion({ question, root }: { question: RouteQuestionState; root: Route }) {
  const { t } = useTranslation();
  const alerts = useQuery({ ...alertLabelsQuery, refetchInterval: 10_000 });
  const list = alerts.data?.alerts ?? [];
  return (
    <Section title={t("notify.ask.title")}>
      <div className={classes.form}>
        {list.length > 0 && (
          <NativeSelect
            label={t("notify.ask.pick")}
            value=""
            onChange={(event) => {
              const alert = list.find((one) => one.id === event.currentTarget.value);
              if (alert !== undefined) question.pick(alert.labels);
            }}
            data={[
              { value: "", label: t("notify.ask.pickHint") },
              ...list.map((one) => ({ value: one.id, label: one.summary || one.name })),
            ]}
          />
        )}
        <Textarea
          label={t("notify.ask.labels")}
          description={t("notify.ask.labelsHint")}
          placeholder={"alertname=PoolExhausted\nseverity=page"}
          value={question.text}
          onChange={(event) => question.type(event.currentTarget.value)}
          error={
            question.problems.length > 0 ? t("notify.ask.unread", { line: question.problems[0] ?? "" }) : undefined
          }
          autosize
          minRows={3}
          maxRows={14}
          spellCheck={false}
          classNames={{ input: classes.mono ?? "" }}
        />
      </div>
      <FaultText error={question.some ? question.answer.error : null} />
      <div aria-live="polite">
        {question.some && question.answer.data && <Answer answer={question.answer.data} root={root} />}
      </div>
      {!question.some && <Hint>{t("notify.ask.empty")}</Hint>}
    </Section>
  );
}

function Answer({ answer, root }: { answer: RouteAnswer; root: Route }) {
  const { t } = useTranslation();
  return (
    <>
      <ol className={classes.answers} aria-label={t("notify.ask.answer")}>
        {answer.matches.map((match) => {
          const conditions = conditionsTo(root, match.route_id);
          const group = Object.entries(match.group_labels);
          return (
            <li key={match.route_id} className={classes.answer}>
              <NameLine>
                <Icon name={match.integrations === 0 ? "bellOff" : "send"} size={14} />
                {match.receiver}
              </NameLine>
              <Hint>
                {match.integrations === 0
                  ? t("notify.pageOnlyHint")
                  : t("notify.ask.integrations", { integrations: match.integrations })}
              </Hint>
              {conditions.length > 0 && <MatcherChips matchers={conditions} />}
              <Hint>
                {group.length === 0
                  ? t("notify.routes.groupNone")
                  : t("notify.ask.group", { labels: group.map(([name, value]) => `${name}="${value}"`).join(", ") })}
              </Hint>
              {match.muted && (
                <p className={classes.warn}>
                  <Icon name="bellOff" size={13} />
                  {t("notify.ask.muted", { names: match.muted_by.join(", ") })}
                </p>
              )}
            </li>
          );
        })}
      </ol>
      <Quiet answer={answer} />
    </>
  );
}

/** What else would keep the alert from being sent. */
function Quiet({ answer }: { answer: RouteAnswer }) {
  const { t } = useTranslation();
  const silences = useQuery({ ...silencesQuery, enabled: answer.silenced_by.length > 0 });
  if (answer.silenced_by.length === 0 && answer.inhibited_by.length === 0) {
    return <Hint>{t("notify.ask.free")}</Hint>;
  }
  return (
    <ul className={classes.plain}>
      {answer.silenced_by.map((id) => {
        const silence = silences.data?.silences.find((one) => one.id === id);
        return (
          <li key={id} className={classes.warn}>
            <Icon name="bellOff" size={13} />
            <span>
              {t("notify.ask.silenced")} <Link to={`/alerts/silences#${id}`}>{silence?.comment ?? id}</Link>{" "}
              {silence?.matchers.map(formatMatcher).join(", ")}
            </span>
          </li>
        );
      })}
      {answer.inhibited_by.map((key) => (
        <li key={key} className={classes.warn}>
          <Icon name="bellOff" size={13} />
          <span>
            {t("notify.ask.inhibited")} <Link to={`/alerts/${encodeURIComponent(key)}`}>{key}</Link>
          </span>
        </li>
      ))}
    </ul>
  );
}
