import type { Locator, Page } from "@playwright/test";
import { expect, expectAccessible, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";
import { ADMIN, signedIn, signIn, startUsersSystem, type UsersSystem } from "./users-system";

// Each test goes on where the one before it ended, as a team does that takes a server into use.
test.describe.configure({ mode: "serial" });
test.use(OWN_SERVER);

let system: UsersSystem;
test.beforeAll(async () => {
  system = await startUsersSystem();
});
test.afterAll(async () => {
  await system.stop();
});

const TARO = { name: "taro", password: "quiet river paper boat" } as const;
const at = (path: string) => system.url + path;
const user = (page: Page, name: string): Locator => page.locator(`[data-user="${name}"]`);

async function asAdmin(page: Page, path: string): Promise<void> {
  await page.goto(at(path));
  await signIn(page, ADMIN.name, ADMIN.password);
}

async function choose(page: Page, name: string, what: string): Promise<void> {
  await user(page, name)
    .getByRole("button", { name: /^More actions/ })
    .click();
  await page.getByRole("menuitem", { name: what }).click();
}

test("the one-time link makes the first administrator, once", async ({ page }) => {
  await page.goto(at("/"));
  await expect(page.getByText("There is no administrator yet.")).toBeVisible();
  await page.goto(at("/setup#not-the-link"));
  await page.getByLabel("User name").fill(ADMIN.name);
  await page.getByLabel("New password").fill("too short");
  await expect(page.getByText("Too short still")).toBeVisible();
  await page.getByLabel("New password").fill("abcabcabcabcabc");
  await expect(page.getByText("Weak: easy to guess")).toBeVisible();
  await page.getByLabel("New password").fill(ADMIN.password);
  await expect(page.getByText("Good", { exact: true })).toBeVisible();
  const make = page.getByRole("button", { name: "Make the administrator" });
  await page.getByLabel("The same again").fill("something else");
  await expect(page.getByText("The two are not the same.")).toBeVisible();
  await expect(make).toBeDisabled();
  await page.getByLabel("The same again").fill(ADMIN.password);
  await make.click();
  await expect(page.getByRole("alert")).toContainText("This link does not hold");

  await page.goto(at(system.setupPath()));
  await page.reload();
  await page.getByLabel("User name").fill(ADMIN.name);
  await page.getByLabel("New password").fill(ADMIN.password);
  await page.getByLabel("The same again").fill(ADMIN.password);
  await make.click();
  await expect(page.getByRole("link", { name: "Targets" })).toBeVisible();
  await expect(page).toHaveURL(at("/"));
  expect(await page.evaluate(() => document.cookie)).toBe("");
  await page.goto(at("/"));
  await page.goto(at(system.setupPath()));
  await expect(page.getByText("This server has its first administrator already.")).toBeVisible();
});

test("signing in leads to the page that was asked for; a wrong password does not", async ({ page }) => {
  await page.goto(at("/access/audit?area=session&tz=utc"));
  await signIn(page, ADMIN.name, "not the password");
  await expect(page.getByRole("alert")).toContainText("Name and password do not belong together");
  await expectAccessible(page);
  await signIn(page, ADMIN.name, ADMIN.password);
  await expect(page.getByRole("heading", { level: 1, name: "Audit log" })).toBeVisible();
  await expect(page).toHaveURL(/area=session/);
  const refused = page.locator('tr[data-action="session.login"]').filter({ hasText: "wrong-password" });
  await expect(refused).toContainText("a stranger");
  await page.getByRole("button", { name: /settings/i }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByLabel("User name")).toBeVisible();
  expect((await page.request.get(at("/api/users"))).status()).toBe(401);
});

test("an administrator adds a user, who sees and does what the role allows", async ({ page, browser }) => {
  await asAdmin(page, "/access");
  await page.getByRole("button", { name: "Add a user" }).click();
  const form = page.getByRole("dialog", { name: "Add a user" });
  await form.getByLabel("User name").fill(TARO.name);
  await form.getByLabel("Full name").fill("山田太郎");
  await form.getByLabel("New password").fill(TARO.password);
  await form.getByLabel("The same again").fill(TARO.password);
  await form.getByRole("button", { name: "Add", exact: true }).click();
  await expect(user(page, TARO.name)).toContainText("Viewer");

  const theirs = await signedIn(browser, system.url, TARO.name, TARO.password);
  await theirs.getByRole("link", { name: "Access" }).click();
  await expect(theirs).toHaveURL(/\/access\/account$/);
  await expect(theirs.getByRole("link", { name: "Audit log" })).toHaveCount(0);
  await theirs.goto(at("/access/tokens"));
  await expect(theirs.getByText("This page is for administrators")).toBeVisible();
  await theirs.goto(at("/alerts/silences"));
  await expect(theirs.getByText("You may look and not change")).toBeVisible();
  await expect(theirs.getByRole("button", { name: "New silence" })).toHaveCount(0);

  await user(page, TARO.name).getByRole("button", { name: /^Edit/ }).click();
  const edit = page.getByRole("dialog", { name: "Change taro" });
  await edit.getByRole("radio", { name: "Editor" }).check();
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(user(page, TARO.name)).toContainText("Editor");
  await theirs.reload();
  await expect(theirs.getByRole("button", { name: "New silence" })).toBeVisible();

  await user(page, ADMIN.name).getByRole("button", { name: /^Edit/ }).click();
  const own = page.getByRole("dialog", { name: "Change mika" });
  await own.getByRole("radio", { name: "Viewer" }).check();
  await own.getByRole("button", { name: "Save" }).click();
  await expect(own.getByRole("alert")).toContainText("This is the last administrator");
  await theirs.context().close();
});

test("sessions are listed and ended, by oneself and by an administrator; so are disabled users' ones", async ({
  page,
  browser,
}) => {
  const first = await signedIn(browser, system.url, TARO.name, TARO.password);
  const second = await signedIn(browser, system.url, TARO.name, TARO.password);
  await first.goto(at("/access/account"));
  const sessions = first.getByRole("list", { name: "Sessions" });
  await expect(sessions.getByText("this browser")).toHaveCount(1);
  const before = await sessions.getByRole("listitem").count();
  expect(before).toBeGreaterThanOrEqual(2);
  await first.getByRole("button", { name: "Sign out everywhere" }).click();
  await expect(first.getByLabel("User name")).toBeVisible();
  await second.goto(at("/targets"));
  await expect(second.getByLabel("User name")).toBeVisible();

  await signIn(second, TARO.name, TARO.password);
  await expect(second.getByRole("heading", { level: 1, name: "Targets" })).toBeVisible();
  await asAdmin(page, "/access");
  await expect(user(page, TARO.name)).toContainText("sessions: 1");
  await choose(page, TARO.name, "Sessions");
  await page.getByRole("dialog", { name: "Sessions of taro" }).getByRole("button", { name: /^End/ }).click();
  await expect(page.getByText("Signed in nowhere.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(second.getByLabel("User name")).toBeVisible();

  await choose(page, TARO.name, "Disable");
  await expect(user(page, TARO.name)).toContainText("Disabled");
  await signIn(second, TARO.name, TARO.password);
  await expect(second.getByRole("alert")).toContainText("disabled");
  await choose(page, TARO.name, "Enable");
  await expect(user(page, TARO.name)).not.toContainText("Disabled");
  await Promise.all([first.context().close(), second.context().close()]);
});

test("a password is changed by its owner and reset by an administrator", async ({ page, browser }) => {
  const changed = "seven slow green trams";
  const theirs = await signedIn(browser, system.url, TARO.name, TARO.password);
  await theirs.goto(at("/access/account"));
  const panel = theirs.getByRole("region", { name: "Your password" });
  await panel.getByLabel("Current password").fill("not this one");
  await panel.getByLabel("New password").fill(changed);
  await panel.getByLabel("The same again").fill(changed);
  await panel.getByRole("button", { name: "Change the password" }).click();
  await expect(panel.getByRole("alert")).toContainText("The current password is not right.");
  await panel.getByLabel("Current password").fill(TARO.password);
  await panel.getByRole("button", { name: "Change the password" }).click();
  await expect(theirs.getByText("The password was changed")).toBeVisible();
  await expect(panel.getByLabel("Current password")).toHaveValue("");

  await asAdmin(page, "/access");
  await choose(page, TARO.name, "Reset the password");
  const form = page.getByRole("dialog", { name: "New password for taro" });
  await form.getByLabel("New password").fill(TARO.password);
  await form.getByLabel("The same again").fill(TARO.password);
  await form.getByRole("button", { name: "Set the password" }).click();
  await expect(form).toBeHidden();
  await theirs.goto(at("/targets"));
  await signIn(theirs, TARO.name, TARO.password);
  await expect(theirs.getByRole("heading", { level: 1, name: "Targets" })).toBeVisible();
  await theirs.context().close();
});

test("a token is shown once, works within its scopes, and no more when it is revoked", async ({ page, playwright }) => {
  await asAdmin(page, "/access/tokens");
  await page.getByRole("button", { name: "Make a token" }).click();
  const form = page.getByRole("dialog", { name: "Make a token" });
  await form.getByLabel("Name", { exact: true }).fill("nightly-report");
  await form.getByRole("checkbox", { name: "Read", exact: true }).check();
  await form.getByRole("button", { name: "Make it" }).click();
  const token = (await form.locator("pre").innerText()).trim();
  await form.getByRole("button", { name: "I have kept it" }).click();
  const card = page.locator('[data-token="nightly-report"]');
  await expect(card).toContainText("never used");
  await expect(page.getByText(token)).toHaveCount(0);

  const program = await playwright.request.newContext({ extraHTTPHeaders: { Authorization: `Bearer ${token}` } });
  expect((await program.get(at("/api/targets"))).status()).toBe(200);
  expect((await program.get(at("/api/users"))).status()).toBe(403);
  await card.getByRole("button", { name: /^Revoke/ }).click();
  await page.getByRole("dialog", { name: "Revoke nightly-report?" }).getByRole("button", { name: "Revoke" }).click();
  await expect(card).toHaveCount(0);
  expect((await program.get(at("/api/targets"))).status()).toBe(401);
  await program.dispose();

  await page.goto(at("/access/audit"));
  await page.getByLabel("What").selectOption("token");
  await expect(page).toHaveURL(/area=token/);
  await expect(page.locator('tr[data-action="token.revoke"]')).toContainText("nightly-report");
  await expect(page.locator("tr[data-action]").filter({ hasText: "session.login" })).toHaveCount(0);
  await expect(page.getByText(token)).toHaveCount(0);
});

test("axe finds nothing on the pages of access, in either scheme; a phone shows them in Japanese", async ({ page }) => {
  await asAdmin(page, "/access");
  await expect(user(page, ADMIN.name)).toBeVisible();
  await page.getByRole("button", { name: "Add a user" }).click();
  await expectAccessibleInBoth(page, "[role=dialog]");
  await page.keyboard.press("Escape");
  for (const path of ["/access", "/access/tokens", "/access/audit", "/access/account"]) {
    await page.goto(at(path));
    await expect(page.locator("main h1")).toBeVisible();
    await expect(page.getByLabel("Loading")).toHaveCount(0);
    await expectAccessibleInBoth(page);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => localStorage.setItem("loadwatch.language", "ja"));
  const pages = [
    ["/access", "ユーザー"],
    ["/access/tokens", "API トークン"],
    ["/access/audit", "監査ログ"],
    ["/access/account", "自分のアカウント"],
  ] as const;
  for (const [path, title] of pages) {
    await page.goto(at(path));
    await expect(page.getByRole("heading", { level: 1, name: title })).toBeVisible();
    await expect(page.getByLabel("読み込み中")).toHaveCount(0);
    await expectWithin(page, 390, path);
    await expectAccessibleInBoth(page);
  }
});

test("who types wrong passwords too often waits, is told how long, and is let in by an administrator", async ({
  page,
  browser,
}) => {
  // Signed in before: the lock lasts for some seconds only.
  const admin = await signedIn(browser, system.url, ADMIN.name, ADMIN.password);
  await admin.goto(at("/access"));
  await expect(user(admin, TARO.name)).toBeVisible();
  await page.goto(at("/"));
  for (let tries = 0; tries < 6; tries += 1) {
    await page.getByLabel("User name").fill(TARO.name);
    await page.getByLabel("Password", { exact: true }).fill(`wrong ${tries}`);
    const answered = page.waitForResponse("**/api/session/password");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await answered;
  }
  await signIn(page, TARO.name, TARO.password);
  await expect(page.getByRole("alert")).toContainText(/Too many attempts\. Try again in \d+ s/);

  await admin.reload();
  await expect(user(admin, TARO.name)).toContainText(/Locked for \d+/);
  await user(admin, TARO.name)
    .getByRole("button", { name: /^Unlock/ })
    .click();
  await expect(user(admin, TARO.name)).not.toContainText("Locked");
  await signIn(page, TARO.name, TARO.password);
  await expect(page.getByRole("link", { name: "Targets" })).toBeVisible();

  await choose(admin, TARO.name, "Delete…");
  const dialog = admin.getByRole("dialog", { name: "Delete taro?" });
  await expect(dialog).toContainText("stays in the audit log");
  await dialog.getByRole("button", { name: "Delete for good" }).click();
  await expect(user(admin, TARO.name)).toHaveCount(0);
  await expect(page.getByLabel("User name")).toBeVisible();
  await admin.context().close();
});
