import { useTranslation } from "react-i18next";
import type { Run } from "@/api/runs/types";
import { useWhy } from "../why/use-why";
import classes from "./run-page.module.css";

/** The page's parts; those that this run lacks are left out. */
export function RunNav({ run }: { run: Run }) {
  const { t } = useTranslation();
  const why = useWhy(run);
  const parts = [
    ["limits", run.state !== "running"],
    ["findings", run.diagnosis !== null && run.state !== "running"],
    ["why", why !== undefined],
    ["summary", run.requests !== null],
    ["ramp", run.ramp !== null],
    ["charts", true],
    ["system", true],
    ["endpoints", run.endpoints.length > 0],
    ["profiles", true],
    ["configuration", true],
    ["files", true],
    ["review", true],
  ] as const;
  return (
    <nav className={classes.nav} aria-label={t("runs.page.nav")}>
      {parts
        .filter(([, shown]) => shown)
        .map(([id]) => (
          <a
            key={id}
            href={`#${id}`}
            onClick={(event) => {
              // The address keeps its query: a plain hash link of the router's page would be a navigation.
              event.preventDefault();
              const target = document.getElementById(id);
              target?.scrollIntoView();
              target?.focus({ preventScroll: true });
            }}
          >
            {t(`runs.page.nav_${id}`)}
          </a>
        ))}
    </nav>
  );
}
