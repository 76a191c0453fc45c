/** What a host finds in `receipts/` straight after its upload was answered. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Site } from "../support/daemon.ts";
import { type CertificateFiles, ftpSettings, makeCertificateFiles } from "../support/ftp-clients.ts";
import { send } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { openSftpHostClient } from "./crash-client.ts";
import { ftpHostClient } from "./crash-client-ftp.ts";

const rounds = 30;
let site: Site;
let certificate: CertificateFiles;

beforeAll(async () => {
  certificate = makeCertificateFiles();
  site = await Site.make({ ftp: ftpSettings(certificate) });
  await site.start();
});
afterAll(async () => {
  await site.end();
  certificate.remove();
});

const clients = { SFTP: () => openSftpHostClient, FTP: () => ftpHostClient(certificate.cert) } as const;

/** Refused with 951 in a line of its own. */
const wrongStopAt = (line: number): string => `${"\n".repeat(line - 1)}<Stop/>`;

test.each(["SFTP", "FTP"] as const)(
  "over %s it never is the receipt of an earlier file of the name",
  async (way) => {
    const client = await clients[way]()(site);
    const name = `r-${way.toLowerCase()}_20261105_080000`;
    const path = site.path("receipts", `${name}.receipt.xml`);
    const lineInReceipt = () =>
      existsSync(path) ? /Line="(\d+)"/.exec(readFileSync(path, "utf8"))?.[1] : undefined;
    const found: (string | undefined)[] = [];
    for (let line = 1; line <= rounds; line += 1) {
      await client.put(`/inbound/${name}.xml`, wrongStopAt(line));
      found.push(lineInReceipt());
      await waitFor("its receipt", () => lineInReceipt() === String(line));
    }
    await client.end();
    const own = found.map((_, index) => String(index + 1));
    expect(found.filter((line, index) => line !== undefined && line !== own[index])).toEqual([]);
  },
);

test("a file whose name is taken lies under the reference of its receipt, which tells how many files there are to nobody", async () => {
  const base = "r-again_20261105_080000";
  for (let line = 1; line <= 3; line += 1)
    await send(site, { name: `${base}.xml`, content: wrongStopAt(line) });
  const [day = ""] = readdirSync(site.path("error"));
  const folder = join(site.path("error"), day);
  const names = await waitFor("three files, each with its receipt", () => {
    const found = readdirSync(folder).filter((name) => name.startsWith(base) && !name.endsWith(".tmp"));
    return found.length === 6 ? found : undefined;
  });
  const ofReceipts = names.filter((name) => name.endsWith(".receipt.xml"));
  for (const name of ofReceipts) {
    const ledger = /Ledger="([^"]+)"/.exec(readFileSync(join(folder, name), "utf8"))?.[1];
    expect([`${base}.receipt.xml`, `${base}.${ledger}.receipt.xml`]).toContain(name);
    expect(names).toContain(name.replace(".receipt.xml", ".xml"));
  }
  expect(new Set(ofReceipts).size).toBe(3);
});
