/** What a host finds in `receipts/` straight after its upload was answered. */
import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Site } from "../support/daemon.ts";
import { type CertificateFiles, ftpSettings, makeCertificateFiles } from "../support/ftp-clients.ts";
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
