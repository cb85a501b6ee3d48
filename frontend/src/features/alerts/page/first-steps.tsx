import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Incident, RunbookPart } from "@/api/alerts/types";
import { useLocale } from "@/lib/use-locale";
import { Section } from "@/ui/page/section";
import { safeLink, textOf } from "../model/text";
import classes from "./incident.module.css";

/** What the runbook says to look at first, and the way to the rest of it. */
export function FirstSteps({ incident }: { incident: Incident }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const steps = incident.steps[locale] ?? incident.steps.en ?? [];
  const runbook = safeLink(textOf(incident.head, "runbook_url", locale));
  if (steps.length === 0 && runbook === null) return null;
  return (
    <Section
      title={t("alerts.incident.steps")}
      aside={
        runbook !== null && (
          <a href={runbook} target="_blank" rel="noreferrer" className={classes.more}>
            {t("alerts.runbook")}
          </a>
        )
      }
    >
      {steps.length > 0 && (
        <ol className={classes.steps} {...(incident.steps[locale] === undefined && { lang: "en" })}>
          {steps.map((step) => (
            <li key={step.map(({ text }) => text).join("")}>
              <span>
                {step.map((part, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a step's parts never change places.
                  <Piece key={place} part={part} />
                ))}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

function Piece({ part }: { part: RunbookPart }) {
  const locale = useLocale();
  if (part.code) return <code>{part.text}</code>;
  if (part.href === "") return part.text;
  if (!part.href.startsWith("/")) return <a href={part.href}>{part.text}</a>;
  const [path, fragment] = part.href.split("#");
  const address = `${path}?lang=${locale}${fragment === undefined ? "" : `#${fragment}`}`;
  return (
    <Link to={address} reloadDocument target="_blank">
      {part.text}
    </Link>
  );
}
