import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "@/api/client";
import classes from "./problem.module.css";

/** What is wrong; read out at once, unless it is `calm`: a fact that stands among others. */
export function Problem({ children, calm = false }: { children: ReactNode; calm?: boolean }) {
  return (
    <p className={classes.problem} {...(!calm && { role: "alert" })}>
      {children}
    </p>
  );
}

/** Why something was not done; nothing without an error. `what` says before it what that was. */
export function FaultText({ error, what }: { error: Error | null; what?: string }) {
  if (error === null) return null;
  return (
    <Problem>
      {what !== undefined && `${what}. `}
      <FaultWords error={error} />
    </Problem>
  );
}

interface Said {
  readonly words: string;
  /** The server's own English, where the words are fewer than it has; else empty. */
  readonly original: string;
}

/** The server says what went wrong, unless it is the server that does not answer. */
function faultSaid(error: Error, t: TFunction): Said {
  if (error.message === "offline") return { words: `${t("error.offline")}. ${t("error.offlineHint")}`, original: "" };
  if (!(error instanceof ApiError) || document.documentElement.lang !== "ja")
    return { words: error.message, original: "" };
  if (error.detailJa !== "") return { words: error.detailJa, original: "" };
  const say = t as unknown as (key: string, values: { readonly defaultValue: string }) => string;
  const known = say(`faults.${error.code}`, { defaultValue: "" });
  return known === "" ? { words: error.message, original: "" } : { words: known, original: error.detail };
}

/** Why something was not done, in one text. */
export function faultText(error: Error, t: TFunction): string {
  const { words, original } = faultSaid(error, t);
  return original === "" ? words : `${words} (${original})`;
}

/** The same where it may take two lines: what the server says in English stands small below. */
export function FaultWords({ error }: { error: Error }) {
  const { t } = useTranslation();
  const { words, original } = faultSaid(error, t);
  return (
    <>
      {words}
      {original !== "" && (
        <span className={classes.original} lang="en">
          {original}
        </span>
      )}
    </>
  );
}
