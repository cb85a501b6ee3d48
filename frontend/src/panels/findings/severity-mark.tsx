import { useTranslation } from "react-i18next";
import type { Severity } from "@/api/findings/types";
import { StateMark, type Tone } from "@/ui/state-mark";

const TONES: Readonly<Record<Severity, Tone>> = { critical: "bad", warning: "warn", info: "unknown" };

/** How bad a finding is; a note accuses nothing. */
export function SeverityMark({ severity, size = 13 }: { severity: Severity; size?: number }) {
  const { t } = useTranslation();
  const label = t(`findings.severity_${severity}`);
  return <StateMark tone={TONES[severity]} label={label} size={size} {...(severity === "info" && { icon: "info" })} />;
}
