import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { silencesQuery } from "@/api/notify/queries";
import type { Silence, SilenceState } from "@/api/notify/types";
import { useMay } from "@/lib/access-scopes";
import { useParams, withParams } from "@/lib/use-params";
import { useView } from "@/lib/view/context";
import { QueryFault } from "@/ui/fault/query-fault";
import { Toggle, Toggles } from "@/ui/form/toggle";
import { Icon } from "@/ui/icon";
import { Cards } from "@/ui/list/card";
import { FilterBar } from "@/ui/list/filter-bar";
import { Loading } from "@/ui/loading";
import { PageMessage } from "@/ui/page-message";
import { Hint } from "@/ui/text/text";
import { type Matcher, parseMatcher } from "../model/matchers";
import { draftOf, newDraft, type SilenceDraft } from "../model/silence";
import { NotifyPage } from "../notify-page";
import { useAddressTarget } from "../use-address-target";
import { ExpireSilence } from "./expire-silence";
import { SilenceCard } from "./silence-card";
import { SilenceForm } from "./silence-form";

const REFRESH_MS = 3000;
const STATES: readonly SilenceState[] = ["active", "pending", "expired"];

/** What keeps alerts quiet, now, later and before. */
export function SilencesPage() {
  const { t } = useTranslation();
  const { zone } = useView();
  const may = useMay("alerts:write");
  const silences = useQuery({ ...silencesQuery, refetchInterval: REFRESH_MS });
  const [shown, setShown] = useShownState();
  const [draft, setDraft] = useState<SilenceDraft | null>(null);
  const [ending, setEnding] = useState<Silence | null>(null);
  const here = zone === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
  usePrefill((matchers) => may && setDraft(newDraft(matchers, here)), may);
  const all = silences.data?.silences ?? [];
  const counts = (state: SilenceState) => all.filter((one) => one.state === state).length;
  const list = shown === null ? all.filter((one) => one.state !== "expired") : all.filter((one) => one.state === shown);
  useAddressTarget(silences.data !== undefined);
  return (
    <NotifyPage
      title={t("notify.silences.title")}
      actions={
        may && (
          <Button
            size="xs"
            leftSection={<Icon name="bellOff" size={14} />}
            onClick={() => setDraft(newDraft([], here))}
          >
            {t("notify.silences.add")}
          </Button>
        )
      }
    >
      <QueryFault title={t("notify.silences.failed")} query={silences} />
      {silences.isPending && <Loading height={200} label={t("notify.loading")} />}
      {silences.data && !may && <Hint>{t("notify.readOnly")}</Hint>}
      {all.length > 0 && (
        <FilterBar>
          <Toggles label={t("notify.silences.state")}>
            <Toggle on={shown === null} onClick={() => setShown(null)}>
              {t("notify.silences.current")}
            </Toggle>
            {STATES.map((state) => (
              <Toggle key={state} on={shown === state} onClick={() => setShown(state)} count={counts(state)}>
                {t(`notify.silences.state_${state}`)}
              </Toggle>
            ))}
          </Toggles>
        </FilterBar>
      )}
      {silences.data && list.length === 0 && (
        <PageMessage icon="bell" title={t(all.length === 0 ? "notify.silences.none" : "notify.silences.noneHere")}>
          <p>{t("notify.silences.noneHint")}</p>
        </PageMessage>
      )}
      <Cards aria-label={t("notify.silences.title")}>
        {list.map((silence) => (
          <SilenceCard
            key={silence.id}
            silence={silence}
            may={may}
            onEdit={() => setDraft(draftOf(silence, false, zone, here))}
            onCopy={() => setDraft(draftOf(silence, true, zone, here))}
            onEnd={() => setEnding(silence)}
          />
        ))}
      </Cards>
      {draft !== null && <SilenceForm draft={draft} onClose={() => setDraft(null)} />}
      {ending !== null && <ExpireSilence silence={ending} onClose={() => setEnding(null)} />}
    </NotifyPage>
  );
}

/** The state that is shown; null for those that hold or will. It stands in the address. */
function useShownState() {
  const [params, edit] = useParams();
  const shown = STATES.find((one) => one === params.get("state")) ?? null;
  const set = (state: SilenceState | null) => edit((held) => withParams(held, { state }), true);
  return [shown, set] as const;
}

/** `?matcher=severity="page"` opens the form with these conditions, once; the address is cleaned for reloads. */
function usePrefill(open: (matchers: readonly Matcher[]) => void, ready: boolean): void {
  const [params, edit] = useParams();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for an address, not for each rendering
  useEffect(() => {
    const given = params.getAll("matcher");
    if (given.length === 0 || !ready) return;
    open(given.map(parseMatcher).filter((one) => one !== null));
    edit((held) => withParams(held, { matcher: null }), true);
  }, [params, ready]);
}
