import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Remark } from "@/api/runs/types";
import { useLocale } from "@/lib/use-locale";
import { Icon, type IconName } from "@/ui/icon";
import { Section } from "@/ui/page/section";
import { TextButton } from "@/ui/text/text";
import { remarkText } from "../model/remarks";
import classes from "./remarks.module.css";

const KINDS = ["damage", "limit", "distortion", "missing"] as const;
const ICONS: Readonly<Record<(typeof KINDS)[number], IconName>> = {
  damage: "warning",
  limit: "warning",
  distortion: "info",
  missing: "info",
};
/** As many are shown at once; more would push the figures out of sight. */
const SHOWN = 3;

/** What the reader of the figures must know: damage first. */
export function Remarks({ remarks }: { remarks: readonly Remark[] }) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  if (remarks.length === 0) return null;
  const rank = (kind: string) => {
    const place = (KINDS as readonly string[]).indexOf(kind);
    return place < 0 ? KINDS.length : place;
  };
  const sorted = remarks.toSorted((a, b) => rank(a.kind) - rank(b.kind));
  const shown = all ? sorted : sorted.slice(0, SHOWN);
  return (
    <Section label={t("runs.page.remarks")}>
      <ul className={classes.list}>
        {shown.map((remark, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: one code may occur at several places of a file
          <RemarkLine key={`${remark.code} ${place}`} remark={remark} />
        ))}
      </ul>
      {sorted.length > SHOWN && (
        <TextButton aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t("runs.page.fewerRemarks") : t("runs.page.allRemarks", { count: sorted.length })}
        </TextButton>
      )}
    </Section>
  );
}

function RemarkLine({ remark }: { remark: Remark }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const kind = KINDS.find((one) => one === remark.kind) ?? "missing";
  const template = t(`remarks.${remark.code}`, { defaultValue: "", skipInterpolation: true });
  return (
    <li className={classes.line} data-kind={kind}>
      <Icon name={ICONS[kind]} size={14} />
      <p>
        <strong>{t(`runs.page.remark_${kind}`)}</strong> {remarkText(remark, template, locale)}
        {remark.place !== null && <span className={classes.place}> ({remark.place})</span>}
      </p>
    </li>
  );
}
