import { expect, expectAccessibleInBoth, OWN_SERVER, test } from "./live-test";
import { startGuardedServer } from "./start-system";

test.use(OWN_SERVER);

test("a server with tokens asks for one, refuses a wrong one, and lets out again", async ({ page }) => {
  const server = await startGuardedServer();
  try {
    await page.goto(server.url);
    await page.getByLabel("Token", { exact: true }).fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByText(/The token was not accepted/)).toBeVisible();
    await expectAccessibleInBoth(page);
    await page.getByLabel("Token", { exact: true }).fill(server.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("link", { name: "Targets" })).toBeVisible();
    await page.reload();
    await expect(page.getByRole("link", { name: "Targets" })).toBeVisible();
    expect(await page.evaluate(() => document.cookie)).toBe("");
    await page.getByRole("button", { name: /settings/i }).click();
    await page.getByText("Sign out").click();
    await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
    const status = await page.request.get(`${server.url}/api/status`);
    expect(status.status()).toBe(401);
  } finally {
    await server.stop();
  }
});
