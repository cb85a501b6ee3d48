import { useTranslation } from "react-i18next";
import { Dim } from "@/ui/text/text";
import { growth, signed } from "./model";
import classes from "./profiles.module.css";

interface DeltaProps {
  readonly value: number;
  readonly base: number;
  readonly format: (value: number) => string;
}

/** How something has changed, with its sign. */
export function Delta({ value, base, format }: DeltaProps) {
  const { t } = useTranslation();
  const rise = growth(value, base);
  if (value === base || rise === 0) return <Dim>±0</Dim>;
  const share =
    rise === null ? t("profiles.isNew") : value === 0 ? t("profiles.isGone") : signed(rise, (whole) => `${whole}%`);
  return (
    <span className={value > base ? classes.more : classes.less}>
      {signed(value - base, format)} ({share})
    </span>
  );
}
