/** Loads with stops as large as a body may be: they are shown without holding up others. */
import { beforeEach, describe, expect, test } from "vitest";
import { GatewayStore, load, stop } from "../support/gateway-store.ts";

let site: GatewayStore;

beforeEach(async () => {
  site = await GatewayStore.open();
});

describe("the detail of a load whose stops are large", () => {
  async function loadOfLarge(count: number, bytes: number): Promise<readonly string[]> {
    const numbers = Array.from({ length: count }, (_, index) => `S${index}`);
    await site.importLoads(load("L1", numbers));
    const large = "x".repeat(bytes);
    for (const stopNbr of numbers) await site.importStops(stop(stopNbr, { large }));
    return numbers;
  }

  test("shows all of them in their order, and lets others have their turn", async () => {
    const numbers = await loadOfLarge(6, 600_000);
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    const { stops } = await site.load("L1");
    clearInterval(timer);
    expect(stops.map((one: { stop: { stopNbr: string } }) => one.stop.stopNbr)).toEqual(numbers);
    expect(turns).toBeGreaterThan(2);
  });

  test("is refused when it is too large for one answer, with what to do", async () => {
    await loadOfLarge(7, 20_000_000);
    await expect(site.load("L1")).rejects.toThrow(
      "larger than 128 MiB. Ask for the stops of the load one by one.",
    );
  });
});
