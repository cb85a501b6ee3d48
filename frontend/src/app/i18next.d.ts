import type { en } from "@/app/locales/en";

declare module "i18next" {
  interface CustomTypeOptions {
    resources: { translation: typeof en & { remarks: Record<string, string> } };
  }
}
