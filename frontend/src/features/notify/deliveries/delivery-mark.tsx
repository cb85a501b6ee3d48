import { useTranslation } from "react-i18next";
import type { DeliveryState } from "@/api/notify/types";
import { StateMark, type Tone } from "@/ui/state-mark";

const TONES: Readonly<Record<DeliveryState, Tone>> = {
  waiting: "warn",
  sending: "unknown",
  delivered: "ok",
  withdrawn: "unknown",
  dead: "bad",
};

export function DeliveryMark({ state }: { state: DeliveryState }) {
  const { t } = useTranslation();
  return <StateMark tone={TONES[state]} label={t(`notify.delivery_${state}`)} />;
}
