import { type ComponentType, lazy } from "react";
import { loadPageTexts } from "@/app/i18n";

/** A page that is loaded when it is opened, with the texts that the first page does without. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => {
    const [element] = await Promise.all([load(), loadPageTexts()]);
    return { default: element };
  });
}
