import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { serverNow } from "@/api/server-clock";
import { checkRange, rangeFromText, rangeToText } from "@/lib/time/range";
import { useView } from "@/lib/view/context";
import { notifyGood, notifyProblem } from "@/ui/notify";

/** Copies the range, and takes one over from the clipboard; each says what came of it. */
export function useRangeClipboard(): { copy: () => void; paste: () => void } {
  const view = useView();
  const { t } = useTranslation();
  const denied = useCallback(() => notifyProblem(t("range.clipboardDenied"), t("range.clipboardHint")), [t]);
  const copy = useCallback(() => {
    // Without a secure context there is no clipboard at all.
    const writing =
      navigator.clipboard?.writeText(rangeToText(view.range)) ?? Promise.reject(new Error("no clipboard"));
    writing.then(() => notifyGood(t("range.copied")), denied);
  }, [view.range, t, denied]);
  const paste = useCallback(() => {
    const reading = navigator.clipboard?.readText() ?? Promise.reject(new Error("no clipboard"));
    reading.then((text) => {
      const range = rangeFromText(text);
      if (range !== null && checkRange(range, serverNow()) === null) view.setRange(range);
      else notifyProblem(t("range.pasteFailed"), t("range.pasteHint"));
    }, denied);
  }, [view, t, denied]);
  return useMemo(() => ({ copy, paste }), [copy, paste]);
}
