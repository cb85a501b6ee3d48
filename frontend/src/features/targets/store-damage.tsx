import { useTranslation } from "react-i18next";
import type { StoreFigures } from "@/api/store/types";
import { formatInstant } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { PageMessage } from "@/ui/page-message";

const SHOWN = 12;

/** What damage of the disk took, by table and time, and the command that copies the rest; nothing where there is none. */
export function StoreDamage({ store }: { readonly store: StoreFigures }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  if (store.losses.length === 0) {
    return null;
  }
  const text = (loss: StoreFigures["losses"][number]) => {
    const count = loss.samples === null ? t("store.damagedUnknown") : formatValue(loss.samples, "count", locale);
    if (loss.first_ms === null || loss.last_ms === null) {
      return t("store.damagedNowhere", { table: loss.table, count });
    }
    const [first, last] = [loss.first_ms, loss.last_ms].map((timeMs) => formatInstant(timeMs, zone, locale));
    return t("store.damagedPart", { table: loss.table, count, first, last });
  };
  const more = store.losses.length - SHOWN;
  return (
    <PageMessage icon="warning" title={t("store.damaged")} role="alert">
      <p>{t("store.damagedLead")}</p>
      <ul>
        {store.losses.slice(0, SHOWN).map((loss) => (
          <li key={`${loss.table}-${loss.first_ms}-${loss.samples}`}>{text(loss)}</li>
        ))}
        {more > 0 && <li>{t("store.damagedMore", { more })}</li>}
      </ul>
      <p>
        {t("store.damagedDo")} <code>{store.salvage_command}</code>
      </p>
    </PageMessage>
  );
}
