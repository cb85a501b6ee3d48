import { expect, it } from "vitest";
import { browserName, passwordStrength } from "./text";

it.each([
  ["", "short"],
  ["elevenchars", "short"],
  ["パスワードを十一文字に", "short"],
  ["aaaaaaaaaaaaaaaa", "weak"],
  ["abcabcabcabcabc", "weak"],
  ["qwertyuiopasdf", "weak"],
  ["ponmlkjihgfedcba", "weak"],
  ["mudguard lamp", "fair"],
  ["correct horse battery", "good"],
  ["Tr0ub4dor&3-lamp", "good"],
])("the password %j is %s", (password, strength) => {
  expect(passwordStrength(password)).toBe(strength);
});

it("names the browser and the system", () => {
  const chrome =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36";
  expect(browserName(chrome)).toBe("Chrome, Linux");
  expect(browserName(`${chrome} Edg/143.0`)).toBe("Edge, Linux");
  expect(browserName("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1")).toBe(
    "Safari, iPhone",
  );
  expect(browserName("curl/8.5.0")).toBe("curl/8.5.0");
});
