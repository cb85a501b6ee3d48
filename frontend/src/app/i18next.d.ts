import type { en } from "@/app/locales/en";
import type { pages } from "@/app/locales/pages/en";

declare module "i18next" {
  interface CustomTypeOptions {
    resources: { translation: typeof en & typeof pages & { remarks: Record<string, string> } };
  }
}
