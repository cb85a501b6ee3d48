import { Burger, Drawer, Loader } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { Suspense, useEffect } from "react";
import { useTranslation } from "react-i18next";
import { NavLink, Outlet, useLocation } from "react-router";
import { PageFault } from "@/app/page-fault";
import { PAGES } from "@/app/pages";
import { useView } from "@/lib/view/context";
import { viewSearch } from "@/lib/view/state";
import { RangeControls } from "@/panels/range/range-controls";
import { useRangeKeys } from "@/panels/range/use-range-keys";
import { ErrorBoundary } from "@/ui/error-boundary";
import { IconButton } from "@/ui/icon-button";
import { notifyProblem } from "@/ui/notify";
import { Dock } from "@/ui/page/dock";
import { useNarrow } from "@/ui/use-narrow";
import { AlertBell, FiringCount } from "./alert-bell";
import { AlertWatch } from "./alert-watch";
import { ConnectionBadge } from "./connection-badge";
import { CommandPalette, openPalette } from "./palette/command-palette";
import { SettingsList, SettingsMenu } from "./settings-menu";
import classes from "./shell.module.css";
import { ShortcutsDialog } from "./shortcuts-dialog";
import { StatusBanners } from "./status-banners";
import { useChartKeys } from "./use-chart-keys";
import { usePageKeys } from "./use-page-keys";
import { usePrintScheme } from "./use-print-scheme";
import { VersionFoot } from "./version-foot";

export function Shell() {
  const { t } = useTranslation();
  const { pathname, search: address } = useLocation();
  const search = viewSearch(address);
  const [help, showHelp] = useDisclosure();
  const [menu, showMenu] = useDisclosure();
  const narrow = useNarrow();
  const timed = PAGES.some((page) => page.path === pathname && page.timed);
  useHotkeys([["mod+K", openPalette]]);
  useRangeKeys(timed);
  usePageKeys(showHelp.toggle);
  useChartKeys();
  usePrintScheme();
  useAddressProblems();
  return (
    <>
      <a href="#content" className={classes.skip}>
        {t("nav.skip")}
      </a>
      <header className={classes.header}>
        <NavLink to={{ pathname: "/", search }} className={classes.brand ?? ""} aria-label={t("product")}>
          <Mark />
          <span className={classes.name}>{t("product")}</span>
        </NavLink>
        <nav className={classes.nav} aria-label={t("nav.label")}>
          <PageLinks search={search} />
        </nav>
        {!narrow && timed && <RangeControls />}
        <ConnectionBadge />
        <AlertBell />
        <div className={classes.tools}>
          <IconButton icon="search" label={t("palette.open")} hint="Ctrl+K" onClick={openPalette} />
          <IconButton icon="keyboard" label={t("keys.open")} hint="?" onClick={showHelp.open} />
          <SettingsMenu />
        </div>
        <Burger
          className={classes.burger ?? ""}
          opened={menu}
          onClick={showMenu.toggle}
          size="sm"
          aria-label={t("nav.open")}
        />
      </header>
      {narrow && timed && (
        <section className={classes.range} aria-label={t("range.label")}>
          <RangeControls />
        </section>
      )}
      <main id="content" className={classes.main} tabIndex={-1}>
        <ErrorBoundary resetKey={pathname} fallback={(error, retry) => <PageFault error={error} retry={retry} />}>
          <Suspense fallback={<Loader size="sm" m="xl" role="status" aria-label={t("line.connecting")} />}>
            <Outlet />
          </Suspense>
        </ErrorBoundary>
      </main>
      <VersionFoot />
      <Dock>
        <StatusBanners />
      </Dock>
      <Drawer
        opened={menu}
        onClose={showMenu.close}
        position="right"
        size="20rem"
        title={t("product")}
        closeButtonProps={{ "aria-label": t("action.close") }}
      >
        <nav className={classes.drawerNav} aria-label={t("nav.label")}>
          <PageLinks search={search} onClick={showMenu.close} />
        </nav>
        <SettingsList />
      </Drawer>
      <ShortcutsDialog opened={help} onClose={showHelp.close} />
      <CommandPalette timed={timed} onHelp={showHelp.open} />
      <AlertWatch />
    </>
  );
}

function PageLinks({ search, onClick }: { search: string; onClick?: () => void }) {
  const { t } = useTranslation();
  return PAGES.map(({ id, path }) => (
    <NavLink
      key={id}
      to={{ pathname: path, search }}
      end={path === "/"}
      className={classes.link ?? ""}
      {...(onClick && { onClick })}
    >
      {t(`nav.${id}`)}
      {id === "alerts" && <FiringCount />}
    </NavLink>
  ));
}

/** A curve that runs into its limit. */
function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" className={classes.mark}>
      <path d="M1 4.5h18" stroke="currentColor" strokeWidth="1.6" strokeDasharray="2.5 2" opacity="0.75" />
      <path
        d="M1 16.5c5 0 6-2.5 8.5-6s4-4.900 9.500-4.900"
        fill="none"
        stroke="var(--lw-accent)"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
    </svg>
  );
}

/** Says once per address what of it could not be read. */
function useAddressProblems(): void {
  const { problems } = useView();
  const { t } = useTranslation();
  const names = [...new Set(problems)].join(", ");
  useEffect(() => {
    if (names !== "") notifyProblem(t("range.addressProblem"), t("range.addressProblemHint", { names }));
  }, [names, t]);
}
