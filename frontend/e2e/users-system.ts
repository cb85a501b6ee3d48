/** A server that asks users to sign in, with nobody in it yet. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, expect, type Page } from "@playwright/test";
import { type System, start, untilReady } from "./start-system";

export const ADMIN = { name: "mika", password: "lamp mudguard orchid tide" } as const;

export interface UsersSystem extends System {
  /** Path of the one-time link that makes the first administrator, as the server's log has it. */
  setupPath(): string;
}

export async function startUsersSystem(): Promise<UsersSystem> {
  let log = "";
  const prepare = (home: string) => {
    log = join(home, "log");
    return { LOADWATCH_ACCESS: "users", LOADWATCH_DEFAULT_RULES: "false" };
  };
  const system = await start("server", prepare, untilReady);
  return {
    ...system,
    setupPath: () => {
      const path = readFileSync(log, "utf8").match(/\/setup#[\w-]+/)?.[0];
      if (path === undefined) throw new Error("the log holds no one-time link");
      return path;
    },
  };
}

export async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel("User name").fill(name);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Another browser, in which somebody is signed in. */
export async function signedIn(browser: Browser, url: string, name: string, password: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(url);
  await signIn(page, name, password);
  await expect(page.getByRole("link", { name: "Targets" })).toBeVisible();
  return page;
}
