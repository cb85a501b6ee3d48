import { useDebouncedValue } from "@mantine/hooks";
import { createSpotlight, Spotlight, type SpotlightActionGroupData, useSpotlight } from "@mantine/spotlight";
import { type KeyboardEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useNavigate } from "react-router";
import { PAGES, SUB_PAGES } from "@/app/pages";
import { useMay } from "@/lib/access-scopes";
import { lastRange, RELATIVE_SPANS } from "@/lib/time/range";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { viewSearch } from "@/lib/view/state";
import { spanText } from "@/panels/range/range-text";
import { Icon } from "@/ui/icon";
import { useCommands } from "./use-commands";
import { useFound } from "./use-found";
import { useShownGroups } from "./use-shown-groups";

const [store, palette] = createSpotlight();
export const openPalette = palette.open;

interface Props {
  /** Whether the page shows the time range. */
  readonly timed: boolean;
  readonly onHelp: () => void;
}

/** A name is asked for when the letters pause. */
const PAUSE_MS = 200;
const MOST_LETTERS = 100;

/** Ctrl+K: panels, pages, ranges and commands, and runs, alerts and targets, which the server is asked for. */
export function CommandPalette({ timed, onHelp }: Props) {
  const { t } = useTranslation();
  const [query, setQuery] = useState("");
  const [asked] = useDebouncedValue(query, PAUSE_MS);
  const { opened } = useSpotlight(store);
  const commands = useCommands(timed, onHelp);
  // What comes late stands below: it moves nothing that may be under the pointer.
  const actions = [
    ...useActions(opened),
    { group: t("palette.commands"), actions: commands },
    ...useFound(asked, opened),
  ];
  return (
    <Spotlight
      store={store}
      query={query}
      onQueryChange={setQuery}
      actions={actions}
      shortcut={null}
      highlightQuery
      scrollable
      maxHeight={420}
      nothingFound={t("palette.empty")}
      searchProps={{
        placeholder: t("palette.placeholder"),
        "aria-label": t("palette.placeholder"),
        maxLength: MOST_LETTERS,
        onKeyDown: openFirst,
        leftSection: <Icon name="search" />,
      }}
    />
  );
}

/** Enter opens the first of what came after the letters, too: the kit selects only what was there with them. */
function openFirst(event: KeyboardEvent): void {
  const list = event.currentTarget.closest("[role=dialog]");
  if (event.key !== "Enter" || list?.querySelector("[data-selected]") != null) return;
  list?.querySelector<HTMLElement>("[data-action]")?.click();
}

function useActions(opened: boolean): SpotlightActionGroupData[] {
  const { t } = useTranslation();
  const view = useView();
  const navigate = useNavigate();
  const search = viewSearch(useLocation().search);
  const admin = useMay("admin");
  const groups = useShownGroups(useLocale(), opened);
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
