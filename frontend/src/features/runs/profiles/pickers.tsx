import { NativeSelect, SegmentedControl } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Profile, ProfileList } from "@/api/profiles/types";
import { formatElapsed } from "@/lib/run-text";
import { Hint } from "@/ui/text/text";
import { type Choice, kindsOf } from "./model";
import { processOf, useKindText } from "./profile-facts";
import classes from "./profiles.module.css";
import type { Address } from "./profiles-page";

interface Props {
  readonly list: ProfileList;
  readonly choices: readonly Choice[];
  readonly choice: Choice;
  readonly base: readonly Profile[];
  readonly address: Address;
}

/** Kind, process, and whether the baseline stands beside. */
export function Pickers({ list, choices, choice, base, address }: Props) {
  const { t } = useTranslation();
  const text = useKindText();
  const first = list.profiles[0]?.at_ms ?? 0;
  const label = ({ id, profiles }: Choice) => {
    const [one] = profiles;
    if (id === "all" || one === undefined) return t("profiles.all", { count: profiles.length });
    const after = formatElapsed(Math.max(0, Math.round((one.at_ms - first) / 1000)));
    return choices.length > 1 ? `${processOf(one)} (+${after})` : processOf(one);
  };
  const against = list.base === null ? "" : list.base.name || list.base.run;
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
      {base.length > 0 && (
        <SegmentedControl
          size="xs"
          aria-label={t("profiles.mode")}
          value={address.against ? "base" : "alone"}
          onChange={(next) => address.set({ against: next === "base" ? "base" : null })}
          data={[
            { value: "alone", label: t("profiles.alone") },
            { value: "base", label: t("profiles.difference", { run: against }) },
          ]}
        />
      )}
      {list.base !== null && base.length === 0 && <Hint>{t("profiles.noBase", { run: against })}</Hint>}
    </div>
  );
}
