import { Button, NativeSelect } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { orderProfiles } from "@/api/profiles/queries";
import type { ProfileKind } from "@/api/profiles/types";
import { useMay } from "@/lib/access-scopes";
import { faultText } from "@/ui/fault/problem";
import { PageMessage } from "@/ui/page-message";
import { useChange } from "@/ui/use-change";
import { KINDS } from "./model";
import { useKindText } from "./profile-facts";
import classes from "./profiles.module.css";

/** Has the agents profile all processes of a run under way. */
export function TakeProfile({ run, kinds }: { run: string; kinds: readonly ProfileKind[] }) {
  const { t } = useTranslation();
  const text = useKindText();
  const offered = KINDS.filter((kind) => kinds.includes(kind));
  const [chosen, setChosen] = useState<ProfileKind>(offered[0] ?? "cpu");
  const change = useChange((kind: ProfileKind) => orderProfiles({ run, kinds: [kind] }), {
    touches: ["profiles"],
    said: t("cockpit.profileOrdered"),
  });
  if (!useMay("runs:write") || offered.length === 0) return null;
  return (
    <>
      <span className={classes.take}>
        <NativeSelect
          size="xs"
          aria-label={t("profiles.takeKind")}
          value={chosen}
          onChange={(event) => setChosen(event.currentTarget.value as ProfileKind)}
          data={offered.map((kind) => ({ value: kind, label: text.name(kind) }))}
        />
        <Button size="xs" variant="default" loading={change.isPending} onClick={() => change.mutate(chosen)}>
          {t("profiles.take")}
        </Button>
      </span>
      {change.error !== null && <PageMessage icon="warning" title={faultText(change.error, t)} role="alert" />}
    </>
  );
}
