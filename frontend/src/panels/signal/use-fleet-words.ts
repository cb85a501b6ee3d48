import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { FleetWords } from "@/panels/fleet-series";

/** Names of what is not an instance, in the page's language. */
export function useFleetWords(): FleetWords {
  const { t } = useTranslation();
  return useMemo(
    () => ({
      total: (kind, count) => t(`fleet.of_${kind}`, { count }),
      spread: (count) => t("fleet.band", { count }),
      middle: t("fleet.middle"),
      outlier: (name) => t("fleet.outlier", { name }),
      worst: (name) => t("fleet.worst", { name }),
      all: (count) => t("fleet.all", { count }),
    }),
    [t],
  );
}
