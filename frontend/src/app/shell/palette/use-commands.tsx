import { useMantineColorScheme } from "@mantine/core";
import type { SpotlightActionData } from "@mantine/spotlight";
import { useTranslation } from "react-i18next";
import { serverNow } from "@/api/server-clock";
import { LANGUAGES, type Language, setLanguage } from "@/app/i18n";
import { useView } from "@/lib/view/context";
import { useRangeClipboard } from "@/panels/range/use-range-clipboard";
import { Icon, type IconName } from "@/ui/icon";

/** What can be done from anywhere. `timed`: on a page that shows the time range. */
export function useCommands(timed: boolean, onHelp: () => void): SpotlightActionData[] {
  const { t, i18n } = useTranslation();
  const view = useView();
  const clipboard = useRangeClipboard();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const command = (id: string, label: string, icon: IconName, onClick: () => void): SpotlightActionData => ({
    ...{ id: `command-${id}`, label, onClick },
    leftSection: <Icon name={icon} />,
  });
  const schemes = (["light", "dark", "auto"] as const).filter((scheme) => scheme !== colorScheme);
  const languages = Object.entries(LANGUAGES).filter(([language]) => language !== i18n.resolvedLanguage);
  return [
    ...(timed
      ? [
          command("pause", t(view.live ? "range.pause" : "range.resume"), view.live ? "pause" : "play", () =>
            view.togglePause(serverNow()),
          ),
          command("copy", t("range.copy"), "copy", clipboard.copy),
          command("paste", t("range.paste"), "copy", clipboard.paste),
        ]
      : []),
    command("zone", view.zone === "utc" ? t("settings.zone_local") : t("settings.zone_utc"), "clock", () =>
      view.change({ zone: view.zone === "utc" ? "local" : "utc" }),
    ),
    ...schemes.map((scheme) =>
      command(`scheme-${scheme}`, `${t("settings.scheme")}: ${t(`settings.scheme_${scheme}`)}`, "globe", () =>
        setColorScheme(scheme),
      ),
    ),
    ...languages.map(([language, name]) =>
      command(`language-${language}`, `${t("settings.language")}: ${name}`, "globe", () =>
        setLanguage(language as Language),
      ),
    ),
    command("print", t("palette.print"), "download", () => globalThis.print()),
    command("keys", t("keys.open"), "keyboard", onHelp),
  ];
}
