import { useTranslation } from "react-i18next";
import type { ProfileOrder } from "@/api/profiles/types";
import { useReasonText } from "@/ui/fault/reason";
import { Dim } from "@/ui/text/text";
import { useKindText } from "./profile-facts";
import classes from "./profiles.module.css";

/** What is on its way, and what did not come, with the reason. */
export function OrderList({ orders }: { orders: readonly ProfileOrder[] }) {
  const { t } = useTranslation();
  const text = useKindText();
  const say = useReasonText();
  const told = orders.filter(({ state }) => state !== "done");
  if (told.length === 0) return null;
  return (
    <ul className={classes.orders} aria-label={t("profiles.orders")}>
      {told.map((order) => (
        <li key={order.id} data-state={order.state}>
          <strong>{t("profiles.order", { ...order, kind: text.name(order.kind) })}</strong>{" "}
          <Dim>
            {order.state === "failed"
              ? t("profiles.state_failed", { reason: say(order.reason) })
              : t(`profiles.state_${order.state as "waiting"}`)}
          </Dim>
        </li>
      ))}
    </ul>
  );
}
