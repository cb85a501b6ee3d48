import { createSpotlight, Spotlight, type SpotlightActionGroupData, useSpotlight } from "@mantine/spotlight";
import { useTranslation } from "react-i18next";
import { useLocation, useNavigate } from "react-router";
import { PAGES, SUB_PAGES } from "@/app/pages";
import { useMay } from "@/lib/access-scopes";
import { lastRange, RELATIVE_SPANS } from "@/lib/time/range";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { spanText } from "@/panels/range/range-text";
import { Icon } from "@/ui/icon";
import { useShownGroups } from "./use-shown-groups";

const [store, palette] = createSpotlight();
export const openPalette = palette.open;

/** Ctrl+K: every panel, page and range by name. */
export function CommandPalette() {
  const { t } = useTranslation();
  const actions = useActions();
  return (
    <Spotlight
      store={store}
      actions={actions}
      shortcut={null}
      highlightQuery
      scrollable
      maxHeight={420}
      nothingFound={t("palette.empty")}
      searchProps={{
        placeholder: t("palette.placeholder"),
        "aria-label": t("palette.placeholder"),
        leftSection: <Icon name="search" />,
      }}
    />
  );
}

function useActions(): SpotlightActionGroupData[] {
  const { t } = useTranslation();
  const view = useView();
  const navigate = useNavigate();
  const { search } = useLocation();
  const admin = useMay("admin");
  const groups = useShownGroups(useLocale(), useSpotlight(store).opened);
  return [
    {
      group: t("palette.panels"),
      actions: groups.flatMap(({ group, panels }) =>
        panels.map((panel) => ({
          id: `panel-${panel.id}`,
          label: panel.title,
          description: group.title,
          keywords: panel.signals.map((signal) => `${signal.id} ${signal.title}`),
          onClick: () => void navigate({ pathname: "/", search, hash: `panel-${panel.id}` }),
        })),
      ),
    },
    {
      group: t("palette.pages"),
      actions: [
        ...PAGES.map(({ id, path, icon }) => ({
          id: `page-${id}`,
          label: t(`nav.${id}`),
          leftSection: <Icon name={icon} />,
          onClick: () => void navigate({ pathname: path, search }),
        })),
        ...SUB_PAGES.flatMap(({ id, path, guarded = false }) =>
          id === undefined || (guarded && !admin)
            ? []
            : [
                {
                  id: `page-${id}`,
                  label: t(`nav.${id}`),
                  leftSection: <Icon name="play" />,
                  onClick: () => void navigate(path),
                },
              ],
        ),
      ],
    },
    {
      group: t("palette.ranges"),
      actions: RELATIVE_SPANS.map((span) => ({
        id: `range-${span}`,
        label: t("range.last", { span: spanText(span, t) }),
        keywords: [span],
        leftSection: <Icon name="clock" />,
        onClick: () => view.setRange(lastRange(span)),
      })),
    },
  ];
}
