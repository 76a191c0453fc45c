import { describe, expect, it } from "vitest";
import { faultOfNodeVersion } from "./node-version.ts";

describe("the version of Node.js", () => {
  it.each(["22.22.0", "22.23.3", "24.0.0", "24.19.1"])("%s is taken", (version) => {
    expect(faultOfNodeVersion(version)).toBeUndefined();
  });

  it.each(["18.20.0", "20.19.5", "22.14.0", "22.21.9", "23.11.0"])("%s is refused in one line", (version) => {
    const fault = faultOfNodeVersion(version) ?? "";
    expect(fault).toContain(version);
    expect(fault).not.toContain("\n");
  });
});
