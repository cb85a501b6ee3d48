import { useTranslation } from "react-i18next";
import type { Listener } from "@/api/connect/types";
import { kindOf } from "./model";

/** What a listener seems to be, and how that was told. */
export function Seems({ listener }: { listener: Listener }) {
  const { t } = useTranslation();
  if (listener.seems.length === 0) return t(`connect.kind_${kindOf(listener)}`);
  return listener.seems
    .map(({ kind, told, path }) => {
      const how = told === "answer" && path !== "" ? t("connect.toldPath", { path }) : t(`connect.told_${told}`);
      return t("connect.seems", { kind: t(`connect.kind_${kind}`), how });
    })
    .join(" · ");
}

/** What a program is called; one that may not be seen is named by its user. */
export function ProgramName({ listener }: { listener: Listener }) {
  const { t } = useTranslation();
  return listener.program ?? t("connect.hidden", { user: listener.user });
}
