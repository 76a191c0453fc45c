/** What a host finds in `receipts/` straight after its upload was answered. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Site, user } from "../support/daemon.ts";
import { sftp } from "../support/clients.ts";
import {
  type CertificateFiles,
  ftpSettings,
  makeCertificateFiles,
  withBasicFtp,
} from "../support/ftp-clients.ts";
import { receiptName, send, stopFile } from "../support/stop-files.ts";
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

interface Collected {
  readonly name: string;
  readonly state: string;
  readonly receiptCollectedBy: string | null;
  readonly receiptCollectedOver: string | null;
  readonly isReceiptUnread: boolean;
}

/** Who has collected the receipts of the files of these stops, and how. */
async function collectedOf(stops: readonly string[]): Promise<readonly unknown[]> {
  const files = await site.json<Collected[]>("files", "--limit", "20");
  return stops.map((stop) => {
    const file = files.find(({ name }) => name === stopFile(stop).name);
    const { receiptCollectedBy: by, receiptCollectedOver: over, isReceiptUnread: isUnread } = file ?? {};
    return { by, over, isUnread };
  });
}

test("who collects receipts is noted over SFTP and FTP, at the latest at the stop; a death loses no more than notes", async () => {
  const [read, deleted, overFtp, late] = ["K1", "K2", "K3", "K4"] as const;
  for (const stop of [read, deleted, overFtp, late])
    expect(await send(site, stopFile(stop))).toMatchObject({ status: 10 });
  const receiptOf = (stop: string) => `receipts/${receiptName(stopFile(stop).name)}`;
  const got = await sftp(site, [
    `get ${receiptOf(read)}`,
    `rm ${receiptOf(read)}`,
    `rm ${receiptOf(deleted)}`,
  ]);
  expect(got.exitCode, got.output).toBe(0);
  await withBasicFtp(site, { cert: certificate.cert, mode: "explicit" }, async (client) => {
    await client.downloadTo(join(site.client, "over-ftp.xml"), `/${receiptOf(overFtp)}`);
  });
  await site.stop();
  const noted = [
    { by: user, over: "sftp", isUnread: false },
    { by: user, over: "sftp", isUnread: true },
    { by: user, over: "ftp", isUnread: false },
    { by: null, over: null, isUnread: false },
  ];
  expect(await collectedOf([read, deleted, overFtp, late])).toEqual(noted);
  await site.start();
  const last = await sftp(site, [`get ${receiptOf(late)}`]);
  expect(last.exitCode, last.output).toBe(0);
  await site.kill();
  await site.start();
  expect((await collectedOf([read, deleted, overFtp])).slice(0, 3)).toEqual(noted.slice(0, 3));
  const verified = await site.cli("ledger", "verify");
  expect(verified.exitCode, verified.output).toBe(0);
  // It can still be collected, whether the note was lost or not.
  await sftp(site, [`get ${receiptOf(late)}`]);
  await waitFor("the note", async () => {
    const [found] = await collectedOf([late]);
    return JSON.stringify(found) === JSON.stringify(noted[0]) || undefined;
  });
});
