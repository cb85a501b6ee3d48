import { NativeSelect } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Profile, ProfileList } from "@/api/profiles/types";
import { formatElapsed } from "@/lib/run-text";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Hint } from "@/ui/text/text";
import { type Address, BASELINE, type Choice, kindsOf } from "./model";
import { processOf, useKindText } from "./profile-facts";
import classes from "./profiles.module.css";

interface Props {
  readonly list: ProfileList;
  readonly choices: readonly Choice[];
  readonly choice: Choice;
  readonly base: readonly Profile[];
  readonly settled: boolean;
  readonly address: Address;
}

/** Kind, process, and the run that stands beside. */
export function Pickers({ list, choices, choice, base, settled, address }: Props) {
  const { t } = useTranslation();
  const text = useKindText();
  const first = list.profiles[0]?.at_ms ?? 0;
  const label = ({ id, profiles }: Choice) => {
    const [one] = profiles;
    if (id === "all" || one === undefined) return t("profiles.all", { count: profiles.length });
    const after = formatElapsed(Math.max(0, Math.round((one.at_ms - first) / 1000)));
    return choices.length > 1 ? `${processOf(one)} (+${after})` : processOf(one);
  };
  const bases = useBases(list, address.against);
  return (
    <div className={classes.pickers}>
      <NativeSelect
        size="xs"
        label={t("profiles.kind")}
        value={address.kind}
        onChange={(event) => address.set({ kind: event.currentTarget.value, of: null, type: null })}
        data={kindsOf(list.profiles).map((kind) => ({ value: kind, label: text.name(kind) }))}
      />
      <NativeSelect
        size="xs"
        label={t("profiles.choose")}
        value={choice.id}
        onChange={(event) => address.set({ of: event.currentTarget.value })}
        data={choices.map((one) => ({ value: one.id, label: label(one) }))}
      />
      {bases.length > 0 && (
        <NativeSelect
          size="xs"
          label={t("profiles.against")}
          value={address.against}
          onChange={(event) => address.set({ against: event.currentTarget.value || null })}
          data={[{ value: "", label: t("profiles.alone") }, ...bases]}
        />
      )}
      {settled && address.against !== "" && base.length === 0 && (
        <Hint>{t("profiles.noBase", { run: list.base?.name ?? address.against })}</Hint>
      )}
    </div>
  );
}

/** The baseline first, then the other runs of the scenario that keep profiles, and the one that the address names. */
function useBases(list: ProfileList, against: string) {
  const { t } = useTranslation();
  const { zone } = useView();
  const locale = useLocale();
  const others = list.bases.filter(({ run }) => run !== list.baseline);
  const known = against === "" || against === BASELINE || list.bases.some(({ run }) => run === against);
  const baseline = list.bases.find(({ run }) => run === list.baseline)?.name ?? list.baseline;
  return [
    ...(baseline === null ? [] : [{ value: BASELINE, label: t("profiles.againstBaseline", { run: baseline }) }]),
    ...others.map(({ run, name, started_ms }) => ({
      value: run,
      label: t("profiles.againstRun", { run: name, time: formatInstant(started_ms, zone, locale) }),
    })),
    ...(known ? [] : [{ value: against, label: list.base?.name ?? against }]),
  ];
}
