import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { receiversQuery } from "@/api/notify/queries";
import type { DeliveryState } from "@/api/notify/types";
import { Toggle, Toggles } from "@/ui/form/toggle";
import { FilterBar, FilterSelect } from "@/ui/list/filter-bar";
import { SearchField } from "@/ui/list/search-field";
import { DELIVERY_STATES, type DeliveryFilter } from "../model/deliveries";

interface Props {
  readonly filter: DeliveryFilter;
  readonly counts: Readonly<Partial<Record<DeliveryState, number>>> | undefined;
  readonly onChange: (part: Partial<DeliveryFilter>) => void;
}

/** Which deliveries are listed; the numbers count all of them. */
export function DeliveriesFilters({ filter, counts, onChange }: Props) {
  const { t } = useTranslation();
  const receivers = useQuery({ ...receiversQuery, staleTime: 10_000 });
  const names = receivers.data?.receivers.map((one) => one.name) ?? [];
  // One out of the address may be gone from the file; its deliveries are there still.
  const known = filter.receiver === "" || names.includes(filter.receiver) ? names : [...names, filter.receiver];
  const toggle = (state: DeliveryState) =>
    onChange({
      states: filter.states.includes(state) ? filter.states.filter((one) => one !== state) : [...filter.states, state],
    });
  return (
    <FilterBar label={t("notify.deliveries.filters")}>
      <Toggles label={t("notify.deliveries.state")}>
        {DELIVERY_STATES.map((state) => (
          <Toggle
            key={state}
            on={filter.states.includes(state)}
            onClick={() => toggle(state)}
            count={counts && (counts[state] ?? 0)}
          >
            {t(`notify.delivery_${state}`)}
          </Toggle>
        ))}
      </Toggles>
      <FilterSelect
        label={t("notify.deliveries.receiver")}
        any={t("notify.deliveries.anyReceiver")}
        value={filter.receiver}
        values={known}
        name={(receiver) => receiver}
        onChange={(receiver) => onChange({ receiver: receiver ?? "" })}
      />
      <SearchField
        label={t("notify.deliveries.search")}
        value={filter.search}
        onChange={(search) => onChange({ search })}
      />
    </FilterBar>
  );
}
