import { useTranslation } from "react-i18next";
import { formatChange, relativeChange } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Dim } from "@/ui/text/text";
import classes from "./cost.module.css";

/** A share of all time, as a number and a bar; nothing where nobody measured. */
export function ShareCell({ share }: { share: number | null }) {
  const locale = useLocale();
  if (share === null) return <td data-number>–</td>;
  return (
    <td data-number>
      {formatValue(share, "ratio", locale)}
      <svg className={classes.bar} aria-hidden="true">
        <rect className={classes.fill} width={`${Math.min(100, Math.max(0, share * 100))}%`} height="100%" />
      </svg>
    </td>
  );
}

/** How a figure changed; less is better for all of them. */
export function ChangeText({ value, base }: { value: number | null | undefined; base: number | null }) {
  const { t } = useTranslation();
  const change = relativeChange(value, base);
  if (change === null) return null;
  const good = Math.abs(change) < 0.05 ? "same" : change < 0;
  const word = good === "same" ? "" : ` ${t(good ? "cost.less" : "cost.more")}`;
  return (
    <span className={classes.change} data-good={good}>
      {formatChange(change)}
      <Dim>{word}</Dim>
    </span>
  );
}
