import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { answerTargets, targetsQuery } from "@/api/queries";
import { useMay } from "@/lib/access-scopes";
import { formatClock } from "@/lib/time/time";
import { useView } from "@/lib/view/context";
import { FaultText } from "@/ui/fault/problem";
import { Notice } from "@/ui/page/notice";
import { Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";

const REFRESH_MS = 15_000;
const NAMED = 3;

/** Asks once whether targets that nobody sends any more were taken away. */
export function GoneTargets() {
  const { t } = useTranslation();
  const { zone } = useView();
  const may = useMay("alerts:write");
  const targets = useQuery({ ...targetsQuery, refetchInterval: REFRESH_MS });
  const gone = (targets.data?.targets ?? []).filter((one) => one.gone && one.kept_by === null);
  const answer = useChange((takenAway: boolean) => answerTargets(gone, takenAway), { touches: ["targets", "alerts"] });
  if (gone.length === 0) return null;
  const names = gone.slice(0, NAMED).map(({ job, instance }) => `${instance} (${job})`);
  if (gone.length > NAMED) names.push(t("targets.goneMore", { count: gone.length - NAMED }));
  const since = formatClock(Math.max(...gone.map((one) => one.sent_ms ?? 0)), zone, "minute");
  return (
    <Notice framed role="status">
      {t("targets.gone", { count: gone.length, names: names.join(", "), since })}
      <Hint>{t("targets.goneHint")}</Hint>
      {may && (
        <Group gap="xs" mt="xs">
          <Button size="xs" loading={answer.isPending} onClick={() => answer.mutate(true)}>
            {t("targets.goneYes")}
          </Button>
          <Button size="xs" variant="default" disabled={answer.isPending} onClick={() => answer.mutate(false)}>
            {t("targets.goneNo")}
          </Button>
        </Group>
      )}
      <FaultText error={answer.error} />
    </Notice>
  );
}
