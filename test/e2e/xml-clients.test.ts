/** Stops as the serializers of other platforms write them by default, sent to the running program. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { getStop } from "../support/clients.ts";
import { lenient, Site } from "../support/daemon.ts";
import { fileName, send } from "../support/stop-files.ts";

const folder = new URL("../fixtures/xml-clients/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".xml"));

let site: Site;
beforeAll(async () => {
  site = await Site.make({ security: lenient });
  await site.start();
});
afterAll(() => site.end());

/** The number stands in plain ASCII in every encoding but UTF-16. */
function numberIn(content: Buffer): string {
  const text = content.includes(0) ? content.toString("utf16le") : content.toString("latin1");
  return /<StopNbr>([^<]+)</.exec(text)?.[1] ?? "none";
}

test.each(names)(
  "%s is taken, with its letters, its times and without what it says is not there",
  async (name) => {
    const content = readFileSync(new URL(name, folder));
    const stopNbr = numberIn(content);
    const receipt = await send(site, { name: fileName(stopNbr), content });
    expect(receipt).toMatchObject({ status: 10, errors: [] });
    const stop = await getStop(site, stopNbr);
    expect(stop?.to?.address?.name).toBe("Bäckerei Müller");
    expect(stop?.to?.schedule).toMatchObject({ timeFrom: "2026-11-06T08:00:00", timeZone: "Europe/Vienna" });
    expect(stop?.to?.address).not.toHaveProperty("longitude", expect.anything());
    expect(JSON.stringify(stop)).not.toMatch(/nil|"landmark":"[^"]/);
  },
);
