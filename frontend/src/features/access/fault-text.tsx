import { useTranslation } from "react-i18next";
import { ApiError } from "@/api/client";
import { formatDuration } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { faultText, Problem } from "@/ui/fault/problem";

/** Refusals that people meet often have words of their own, in both languages. */
const KNOWN = {
  "wrong-password": "wrong_password",
  "weak-password": "weak_password",
  "user-name-taken": "name_taken",
  "last-administrator": "last_administrator",
  "setup-link": "setup_link",
} as const;

/** Why the server did not do it, in words. */
export function useFaultWords(): (error: Error) => string {
  const { t } = useTranslation();
  const locale = useLocale();
  return (error) => {
    if (!(error instanceof ApiError) || error.code === "offline") return faultText(error, t);
    if (error.retryAfter !== null) return t("signIn.wait", { span: formatDuration(error.retryAfter * 1000, locale) });
    const known = Object.entries(KNOWN).find(([code]) => code === error.code)?.[1];
    return known === undefined ? faultText(error, t) : t(`users.fault_${known}`);
  };
}

/** Why a change was not made; nothing without an error. */
export function FaultText({ error }: { error: Error | null }) {
  const words = useFaultWords();
  if (error === null) return null;
  return <Problem>{words(error)}</Problem>;
}
