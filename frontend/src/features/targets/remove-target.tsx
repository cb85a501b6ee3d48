import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { answerTargets } from "@/api/queries";
import { useMay } from "@/lib/access-scopes";
import { faultText } from "@/ui/fault/problem";
import { notifyProblem } from "@/ui/notify";
import { Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import type { TargetRow } from "./target-rows";

/** Takes a silent target out of the list; says who wanted to keep it. */
export function RemoveTarget({ row }: { row: TargetRow }) {
  const { t } = useTranslation();
  const may = useMay("alerts:write");
  const remove = useChange(
    () => answerTargets([row], true).catch((error) => notifyProblem(t("targets.remove"), faultText(error, t))),
    { touches: ["targets", "alerts"], said: t("targets.removed") },
  );
  if (row.health === "up" || row.health === "down") return null;
  return (
    <>
      {row.keptBy !== null && <Hint>{t("targets.kept", { by: row.keptBy })}</Hint>}
      {may && (
        <Button ml="xs" size="compact-sm" variant="default" loading={remove.isPending} onClick={() => remove.mutate()}>
          {t("targets.remove")}
        </Button>
      )}
    </>
  );
}
