import type { TFunction } from "i18next";
import type { SortField } from "./target-rows";

/** The column's name. */
export function fieldName(field: SortField, t: TFunction): string {
  if (field === "health") return t("targets.state");
  return field === "cpu" ? t("targets.cost") : t(`targets.${field}`);
}
