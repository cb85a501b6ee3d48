import { Button, type CSSVariablesResolver, createTheme, Drawer, Menu, Modal, Tooltip } from "@mantine/core";

/** Mantine's dialogs bring a `header` of their own, which would be a second banner to a screen reader. */
const attributes = { header: { role: "presentation" } };

/** One accent, for what can be acted on and for the selection; states have colours of their own in tokens.css. */
export const theme = createTheme({
  primaryColor: "azure",
  primaryShade: 7,
  cursorType: "pointer",
  respectReducedMotion: true,
  defaultRadius: 4,
  fontFamily: "var(--lw-sans)",
  fontFamilyMonospace: "var(--lw-mono)",
  // The type scale; a field of a phone asks for 1rem itself, since smaller letters make phones zoom in.
  fontSizes: { xs: "0.75rem", sm: "0.875rem", md: "0.875rem", lg: "1.25rem", xl: "1.75rem" },
  headings: { fontFamily: "var(--lw-sans)", fontWeight: "650" },
  colors: {
    azure: [
      "#eaf3ff",
      "#d3e5ff",
      "#a8cbff",
      "#84b8ff",
      "#5ea5ff",
      "#3a8af0",
      "#1a72dd",
      "#0b62c4",
      "#084e9e",
      "#063c7a",
    ],
    gray: [
      "#f6f8fa",
      "#eef1f4",
      "#e4e7eb",
      "#cfd5db",
      "#aab2bd",
      "#7d8792",
      "#5a636e",
      "#454d57",
      "#303740",
      "#1d2329",
    ],
    dark: [
      "#e6e9ed",
      "#b9c1ca",
      "#9aa4b0",
      "#6c7682",
      "#39424c",
      "#262c33",
      "#1b2026",
      "#15191e",
      "#0f1216",
      "#0a0d10",
    ],
  },
  components: {
    Button: Button.extend({
      styles: { label: { fontWeight: 550 } },
      // Beside what they act on; a button that a page leads to is as large as its text.
      vars: (_theme, { size }) => ({
        root: size?.startsWith("compact") === true ? { "--button-fz": "var(--lw-type-small)" } : {},
      }),
    }),
    Tooltip: Tooltip.extend({
      defaultProps: { withArrow: false, color: "dark.5", fz: "xs", transitionProps: { duration: 80 } },
    }),
    Drawer: Drawer.extend({
      defaultProps: {
        attributes,
        overlayProps: { backgroundOpacity: 0.3 },
        transitionProps: { duration: 120 },
      },
    }),
    Menu: Menu.extend({ defaultProps: { shadow: "md", transitionProps: { duration: 80 } } }),
    Modal: Modal.extend({
      defaultProps: {
        attributes,
        centered: true,
        overlayProps: { backgroundOpacity: 0.45 },
        transitionProps: { duration: 80 },
      },
    }),
  },
});

/** Mantine's own text and border colours, moved to our tokens so that both schemes keep AA contrast. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-body": "var(--lw-ground)",
    "--mantine-color-text": "var(--lw-text)",
    "--mantine-color-dimmed": "var(--lw-text-dim)",
    "--mantine-color-placeholder": "#69727d",
    "--mantine-color-error": "var(--lw-bad)",
    "--mantine-color-gray-light-color": "var(--lw-text)",
  },
  dark: {
    "--mantine-color-body": "var(--lw-ground)",
    "--mantine-color-text": "var(--lw-text)",
    "--mantine-color-dimmed": "var(--lw-text-dim)",
    "--mantine-color-placeholder": "#8a949f",
    "--mantine-color-error": "var(--lw-bad)",
    "--mantine-color-gray-light-color": "var(--lw-text)",
  },
});
