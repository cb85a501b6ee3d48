import { useTranslation } from "react-i18next";
import { expireSilence } from "@/api/notify/queries";
import type { Silence } from "@/api/notify/types";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { Hint, NameLine } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { MatcherChips } from "../matcher-chips";
import { formatMatcher } from "../model/matchers";

/** Asks before a silence ends: what it held back is sent at once. */
export function ExpireSilence({ silence, onClose }: { silence: Silence; onClose: () => void }) {
  const { t } = useTranslation();
  const expire = useChange(() => expireSilence(silence.id), {
    touches: ["notify", "alerts"],
    said: t("notify.silences.ended"),
    onDone: onClose,
  });
  return (
    <FormDialog
      title={t("notify.silences.endTitle")}
      submit={t("notify.silences.endNow")}
      busy={expire.isPending}
      focus="cancel"
      fault={<FaultText error={expire.error} />}
      onSubmit={() => expire.mutate()}
      onClose={onClose}
    >
      <NameLine>{silence.comment}</NameLine>
      <MatcherChips matchers={silence.matchers.map(formatMatcher)} />
      <Hint>{t("notify.silences.endHint", { alerts: silence.alerts })}</Hint>
    </FormDialog>
  );
}
