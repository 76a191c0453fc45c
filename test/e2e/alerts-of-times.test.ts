/** Alerts of what comes with time, by the real program: files that are expected and do not come, and a certificate. */
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ArrivalView } from "../../src/app/admin/arrival-admin.ts";
import { subjectOf } from "../support/alert-site.ts";
import { makeAuthority } from "../support/certificates.ts";
import { company, lenient, oneParser, Site } from "../support/daemon.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { changeRows } from "../support/site-database.ts";

let site: Site;
let smtp: SmtpServer;

beforeEach(async () => {
  smtp = await startSmtpServer();
  site = await Site.make({ security: lenient, inbound: { ...oneParser, settleMs: 100, scanMs: 500 } });
});
afterEach(async () => {
  await site.end();
  await smtp.end();
});

/** As if the company had been added long ago: deadlines from before that do not count. */
function ageCompanies(): void {
  changeRows(site, "update companies set created_at = 1");
}

test("files that do not come and a certificate that expires are told once, over a restart, and when it is over", async () => {
  const authority = await makeAuthority(site.folder);
  const [short, long] = [
    await authority.issue("short", { days: 5 }),
    await authority.issue("long", { days: 90 }),
  ];
  const [certFile, keyFile] = [join(site.folder, "server.pem"), join(site.folder, "server.key")];
  const use = async ({ certificateFile, keyFile: key }: typeof short) => {
    await copyFile(certificateFile, certFile);
    await copyFile(key, keyFile);
  };
  await use(short);
  ageCompanies();
  await site.reconfigure({
    ftp: { enabled: true, port: 0, tls: { certFile, keyFile } },
    alerts: {
      email: { host: "127.0.0.1", port: smtp.port, tls: "none", from: "dropgate@example.com" },
      ...{ to: ["ops@example.com"], installation: "test", checkEveryMs: 1_000, closeAfterMs: 0 },
    },
    companies: { [company]: { expectedArrivals: { daily: { atLeast: 1, until: "00:00" } } } },
  });
  const late = await site.cli("arrivals", "--json");
  expect(late, late.output).toMatchObject({ exitCode: 1 });
  expect(JSON.parse(late.output)).toMatchObject([{ company, name: "daily", standing: "late", arrived: 0 }]);
  await site.start();
  const subjects = () => smtp.mails.map(subjectOf).join("\n");
  const texts = () => smtp.mails.map(({ source }) => source).join("\n");
  await waitFor(
    "both alerts",
    () => /1 file was expected/.test(texts()) && /certificate of FTPS/.test(texts()),
  );
  await site.kill();
  await site.start();
  await waitFor("the metric", async () =>
    /dropgate_expected_arrivals_late\{company="\w+"\} 1/.test(
      await (await fetch(`${site.http}/metrics`)).text(),
    ),
  );
  const before = smtp.mails.length;
  expect(before).toBeLessThanOrEqual(2);
  const { name, content } = stopFile("E1");
  await writeFile(site.path("inbound", name), content);
  await use(long);
  site.daemon.process.kill("SIGHUP");
  const isOver = () =>
    /over: .*expected files/.test(subjects()) && /over: .*certificate|and 1 more/.test(subjects());
  await waitFor("the end of both", isOver);
  expect(await site.json("alerts")).toEqual([]);
  expect(await site.json("alerts", "--all")).toMatchObject([{ reopened: 0 }, { reopened: 0 }]);
  const [met] = await site.json<readonly ArrivalView[]>("arrivals");
  expect(met).toMatchObject({ standing: "met", arrived: 1 });
});
