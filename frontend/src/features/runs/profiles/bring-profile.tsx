import { useTranslation } from "react-i18next";
import { uploadProfile } from "@/api/profiles/queries";
import { useMay } from "@/lib/access-scopes";
import { useChange } from "@/ui/use-change";
import type { Bringing } from "../files/bring";

/** Keeps files with the run, one after another. */
export function useBringing(run: string): Bringing {
  const { t } = useTranslation();
  const may = useMay("runs:write");
  const change = useChange(
    async (files: readonly File[]) => {
      for (const file of files) await uploadProfile(run, file).answer;
    },
    { touches: ["profiles"], said: t("profiles.brought") },
  );
  return {
    may,
    busy: change.isPending,
    error: change.error,
    bring: (files) => change.mutate(files),
    button: t("profiles.bring"),
    dropHere: t("profiles.dropHere"),
  };
}
