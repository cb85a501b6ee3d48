import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Cause } from "./notes-drawer";

it("names the commit, and links the issue where it is an address", () => {
  const linked = renderToStaticMarkup(<Cause note={{ commit: "3f2c1aa", issue: "https://issues.example/27" }} />);
  expect(linked).toContain("<code>3f2c1aa</code>");
  expect(linked).toContain('<a href="https://issues.example/27"');
  const numbered = renderToStaticMarkup(<Cause note={{ commit: "", issue: "#27" }} />);
  expect(numbered).toContain("#27");
  expect(numbered).not.toContain("<a");
  expect(renderToStaticMarkup(<Cause note={{ commit: "", issue: "javascript:alert(1)" }} />)).not.toContain("<a");
  expect(renderToStaticMarkup(<Cause note={{ commit: "", issue: "" }} />)).toBe("");
});
