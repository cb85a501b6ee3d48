import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { HeadroomBar } from "./headroom-bar";
import { Sparkline } from "./sparkline";

afterEach(cleanup);

describe("HeadroomBar", () => {
  it("is a meter with the true share as its text, and never draws beyond its end", () => {
    const { container } = render(<HeadroomBar ratio={1.25} state="exhausted" label="max_connections" />);
    const meter = screen.getByRole("meter", { name: "max_connections" });
    expect(meter.textContent).toBe("125%");
    expect(container.querySelector(".lw-headroom-used")?.getAttribute("width")).toBe("200.0");
  });

  it("tells states by stripes as well as by colour, and an unknown share by a dash", () => {
    const { container, rerender } = render(<HeadroomBar ratio={0.4} state="ok" label="fds" />);
    expect(container.querySelector(".lw-headroom-hatch")).toBeNull();
    rerender(<HeadroomBar ratio={null} state="near" label="fds" />);
    expect(container.querySelector(".lw-headroom-hatch")).not.toBeNull();
    expect(screen.getByRole("meter").textContent).toBe("–");
  });
});

describe("Sparkline", () => {
  it("keeps gaps, shows the bound and is decoration unless it has a label", () => {
    const { container, rerender } = render(
      <Sparkline values={[0.1, null, 0.5, 0.6]} bound={1} width={32} height={12} />,
    );
    expect(container.querySelector(".lw-sparkline-line")?.getAttribute("d")).toBe("M1,10h0M21,6L31,5");
    expect(container.querySelector(".lw-sparkline-bound")?.getAttribute("d")).toBe("M0,1H32");
    expect(screen.queryByRole("img")).toBeNull();
    rerender(<Sparkline values={[]} label="no history" />);
    expect(screen.getByRole("img", { name: "no history" })).toBeTruthy();
  });
});
