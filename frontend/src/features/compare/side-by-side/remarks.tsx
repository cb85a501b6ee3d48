import { useTranslation } from "react-i18next";
import type { Comparison } from "@/api/compare/types";
import { runTitle } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Notice } from "@/ui/page/notice";
import { Hint } from "@/ui/text/text";

const NO_SECONDS = "no-seconds:";
const KNOWN = [
  "scenario-differs",
  "version-differs",
  "duration-differs",
  "tool-differs",
  "target-differs",
  "mix-differs",
] as const;

/** Why these runs can only be compared with care. */
export function Remarks({ data }: { data: Comparison }) {
  const { t } = useTranslation();
  const texts = data.remarks.map((code) => {
    if (code.startsWith(NO_SECONDS)) {
      const run = data.runs.find(({ id }) => id === code.slice(NO_SECONDS.length));
      return t("compare.noSeconds", { run: run === undefined ? code.slice(NO_SECONDS.length) : runTitle(run) });
    }
    const known = KNOWN.find((one) => one === code);
    return known === undefined ? code : t(`compare.remarks_${known}`);
  });
  if (texts.length === 0) return null;
  return (
    <Notice role="status" framed>
      <ul>
        {texts.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </Notice>
  );
}

/** Which figure to trust: how far each one differs between equal runs, the steadiest first. */
export function Repeats({ data }: { data: Comparison }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { repeats } = data;
  if (repeats.length === 0) return <Hint>{t("compare.repeatsUnknown")}</Hint>;
  const figures = repeats.map(({ metric, scatter }) =>
    t("compare.repeatsOf", { title: metric.title, share: formatValue(scatter, "ratio", locale) }),
  );
  const runs = Math.max(...repeats.map((one) => one.runs));
  return <Hint>{t("compare.figuresRepeat", { runs, figures: figures.join(locale === "ja" ? "、" : ", ") })}</Hint>;
}
