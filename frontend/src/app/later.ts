import { type ComponentType, lazy } from "react";
import { loadPageTexts } from "@/app/i18n";

const RETRY_MS = 2000;

/** A page that is loaded when it is opened, with the texts that the first page does without. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => {
    const [element] = await Promise.all([load(), loadPageTexts()]).catch(reloadOnceThere);
    return { default: element };
  });
}

/** Who opens a page while the server is away waits for it; a browser does not ask again for what failed to load. */
async function reloadOnceThere(error: unknown): Promise<never> {
  const isThere = () =>
    fetch("/-/ready").then(
      ({ ok }) => ok,
      () => false,
    );
  if (await isThere()) throw error;
  while (!(await isThere())) await new Promise((go) => setTimeout(go, RETRY_MS));
  globalThis.location.reload();
  return new Promise(() => undefined);
}
