import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { orderProfiles, profileOrdersQuery } from "@/api/profiles/queries";
import { useMay } from "@/lib/access-scopes";
import { faultText } from "@/ui/fault/problem";
import { IconButton } from "@/ui/icon-button";
import { useChange } from "@/ui/use-change";

const LOOK_MS = 10_000;

/** Has the agents take a CPU profile of the run's processes, where any offers it; all other kinds are on its page. */
export function TakeCpu({ run }: { run: string }) {
  const { t } = useTranslation();
  const may = useMay("runs:write");
  const orders = useQuery({ ...profileOrdersQuery(run), enabled: may, refetchInterval: LOOK_MS, retry: false });
  const change = useChange(() => orderProfiles({ run, kinds: ["cpu"] }), {
    touches: ["profiles"],
    said: t("cockpit.profileOrdered"),
  });
  const offered = orders.data?.processes.some(({ kinds }) => kinds.includes("cpu")) ?? false;
  if (!may || !offered) return null;
  const onItsWay = orders.data?.orders.some(
    ({ kind, state }) => kind === "cpu" && (state === "waiting" || state === "taken"),
  );
  return (
    <IconButton
      icon="sweep"
      size={24}
      label={change.error === null ? t("cockpit.takeCpu") : faultText(change.error, t)}
      disabled={onItsWay === true || change.isPending}
      onClick={() => change.mutate()}
    />
  );
}
