import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "@/api/client";
import { formatDuration } from "@/lib/time/time";
import { useNow } from "@/lib/time/use-now";
import { useLocale } from "@/lib/use-locale";
import { faultText } from "@/ui/fault/problem";

/** Why signing in failed, in words; with the time left where the server asks to wait. `wrong`: what a 401 means. */
export function useSignInFault(error: Error | null, wrong: string): string | null {
  const { t } = useTranslation();
  const locale = useLocale();
  const [until, setUntil] = useState(0);
  const now = useNow(Date.now, 1000);
  useEffect(() => {
    if (error instanceof ApiError && error.retryAfter !== null) setUntil(Date.now() + error.retryAfter * 1000);
  }, [error]);
  if (!(error instanceof ApiError)) return null;
  if (error.code === "offline") return faultText(error, t);
  if (error.retryAfter !== null) {
    const left = until - now;
    return left > 0 ? t("signIn.wait", { span: formatDuration(left, locale) }) : null;
  }
  if (error.status === 401) return wrong;
  return `${t("signIn.failed")}: ${faultText(error, t)}`;
}
