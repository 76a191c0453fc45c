/**
 * The same over FTP with TLS: a host that is told 226 has its file applied once, and one that is not sends it again, however
 * often the daemon dies during uploads and after them. The points are drawn by DROPGATE_CRASH_SEED.
 */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type CertificateFiles, ftpSettings, makeCertificateFiles } from "../support/ftp-clients.ts";
import { ftpHostClient } from "./crash-client-ftp.ts";
import { CrashPlace } from "./crash-round.ts";
import { expectToSurvive } from "./crash-series.ts";
import { amount } from "../support/sampled.ts";
import { rowsOf } from "../support/site-database.ts";

const roundCount = amount(4, 12);
const seed = Number(process.env["DROPGATE_CRASH_SEED"] ?? 2);

let certificate: CertificateFiles;
beforeAll(() => {
  certificate = makeCertificateFiles();
});
afterAll(() => certificate.remove());

test(`what was answered with 226 is applied once or refused with its receipt, over ${roundCount} deaths (seed ${seed})`, async () => {
  const place = await CrashPlace.make({ ftp: ftpSettings(certificate) });
  // What ends badly after a failure is told beside it, and not in its place.
  onTestFinished(() => place.end());
  await expectToSurvive(place, { roundCount, seed, open: ftpHostClient(certificate.cert) });
  const sql = "select count(*) as count from files where channel = 'ftp'";
  const [overFtp] = rowsOf<{ count: number }>(place.site, sql);
  expect(overFtp?.count).toBeGreaterThan(roundCount);
});
