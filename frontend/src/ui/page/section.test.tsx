import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Section } from "./section";

afterEach(cleanup);

it("is a landmark by its title, and a place that links lead to when it has an id", () => {
  render(
    <Section id="limits" title="Limits" aside="three">
      text
    </Section>,
  );
  const section = screen.getByRole("region", { name: "Limits" });
  expect([section.id, section.tabIndex]).toEqual(["limits", -1]);
});

it("is named without a title, and several stand on a page without ids", () => {
  render(
    <>
      <Section title="First">one</Section>
      <Section title="Second">two</Section>
      <Section label="Third">three</Section>
    </>,
  );
  const names = ["First", "Second", "Third"].map((name) => screen.getByRole("region", { name }).textContent);
  expect(names).toEqual(["Firstone", "Secondtwo", "three"]);
});
