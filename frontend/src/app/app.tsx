import "@mantine/core/styles.css";
import "@mantine/dates/styles.css";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "@/app/tokens.css";
import { MantineProvider } from "@mantine/core";
import { DatesProvider } from "@mantine/dates";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { I18nextProvider, useTranslation } from "react-i18next";
import { createBrowserRouter, RouterProvider } from "react-router";
import { i18n } from "@/app/i18n";
import { NotFound } from "@/app/not-found";
import { PageFault } from "@/app/page-fault";
import { PAGES, SUB_PAGES } from "@/app/pages";
import { createQueryClient } from "@/app/query-client";
import { Root } from "@/app/root";
import { cssVariables, theme } from "@/app/theme";
import { styleNonce } from "@/lib/style-nonce";
import "dayjs/locale/ja";

const queryClient = createQueryClient();

const router = createBrowserRouter([
  {
    path: "/",
    element: <Root />,
    errorElement: <PageFault />,
    children: [
      ...[...PAGES, ...SUB_PAGES].map(({ path, element: Page }) => ({ path, element: <Page /> })),
      { path: "*", element: <NotFound /> },
    ],
  },
]);

export function App() {
  return (
    <I18nextProvider i18n={i18n}>
      <QueryClientProvider client={queryClient}>
        <MantineProvider
          theme={theme}
          cssVariablesResolver={cssVariables}
          defaultColorScheme="auto"
          getStyleNonce={styleNonce}
        >
          <LocalizedDates />
        </MantineProvider>
      </QueryClientProvider>
    </I18nextProvider>
  );
}

function LocalizedDates() {
  const { i18n: instance } = useTranslation();
  return (
    <DatesProvider settings={{ locale: instance.resolvedLanguage ?? "en", firstDayOfWeek: 1 }}>
      <Notifications position="bottom-right" limit={4} />
      <RouterProvider router={router} />
    </DatesProvider>
  );
}
