/** What `dropgate check` says of the machine around it, by the real program. */
import { mkdir, readFile, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CheckFinding } from "../../src/app/watch/check-finding.ts";
import { company, program, Site } from "../support/daemon.ts";
import { sql } from "kysely";
import { openStore, type Store } from "../../src/store/database/database.ts";
import type { Transaction } from "../../src/store/database/groups/group-commit.ts";
import { noteLastBackup } from "../../src/store/database/last-backup.ts";
import { makeAuthority } from "../support/certificates.ts";
import { resultInProcess } from "../support/run-in-process.ts";
import { runProgram } from "../support/run-program.ts";
import { dayMs } from "../../src/lib/durations.ts";
import { mayMount, startTinyDisk } from "../support/tiny-disk.ts";
import { itOnSqlite } from "../support/store-dialect.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make();
});
afterAll(() => site.end());

/** As with `--json`, and the text of the same findings. With an environment of its own as a process, else in this one. */
async function check(env: NodeJS.ProcessEnv = {}) {
  const run = (...args: string[]) =>
    Object.keys(env).length === 0
      ? resultInProcess(site, "check", ...args)
      : runProgram(program, ["check", "--config", site.configFile, ...args], {
          env: { ...process.env, ...env },
        });
  const { stdout, exitCode } = await run("--json");
  return { exitCode, findings: JSON.parse(stdout) as CheckFinding[], text: async () => (await run()).stdout };
}

function about(findings: readonly CheckFinding[], part: string): CheckFinding | undefined {
  return findings.find(({ what }) => what.includes(part));
}

/** Changes the state while no daemon runs. */
async function change(work: (tx: Transaction) => Promise<unknown>): Promise<void> {
  const store: Store = await openStore(site.stateDir, { url: site.databaseUrl });
  await store.write("site", async (tx) => {
    await work(tx);
  });
  await store.close();
}

/** So many applied files a day, each that large, from `from` days ago until `to` days ago. */
function files(
  tx: Transaction,
  { from, to, perDay, size }: Record<"from" | "to" | "perDay" | "size", number>,
) {
  const begin = Math.round(Date.now() - from * dayMs);
  const count = Math.ceil((from - to) * perDay);
  const at = sql`cast(${begin} as bigint) + i * cast(${dayMs / perDay} as bigint)`;
  return sql`with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${count})
    insert into files (company_id, name, size, channel, received_at, decided_at, state, reasons,
      records_created, records_updated, records_deleted, source, location, is_filed)
    select 1, 'f' || i, ${size}, 'sftp', ${at}, ${at}, 'applied', '[]',
      1, 0, 0, 'x', 'x' || i, 1 from n`.execute(tx);
}

async function emptyLedger(): Promise<void> {
  await change((tx) => tx.deleteFrom("files").execute());
}

describe("the disk", () => {
  test("is forecast when three days are known, with a warning, what grows and the setting within 30 days", async () => {
    await site.configure({});
    expect(about((await check()).findings, "the disk of")?.what).toMatch(
      /free on the disk of|must stay free/,
    );
    await change((tx) => files(tx, { from: 2, to: 0, perDay: 100, size: 5_000 }));
    const early = await check();
    expect(about(early.findings, "can be told after 3 days")?.status).toBe("ok");
    await emptyLedger();
    await change((tx) => files(tx, { from: 20, to: 0, perDay: 100, size: 100 }));
    const slow = about((await check()).findings, "at the rate of the last");
    expect(slow?.status).toBe("ok");
    // A file and its receipt a hundred times a day, a block each, and the row.
    expect(slow?.what).toContain("(1 MB more a day, most of it archive 1 MB, receipts 1 MB; ");
    await emptyLedger();
    const { bavail, bsize } = await statfs(site.stateDir);
    // More in the last 7 days than before: they count.
    await change((tx) => files(tx, { from: 20, to: 5, perDay: 10, size: 100 }));
    const size = Math.round((bavail * bsize * 7) / 50_000);
    await change((tx) => files(tx, { from: 5, to: 0, perDay: 1_000, size }));
    const { findings, text, exitCode } = await check();
    const soon = about(findings, "at the rate of the last 7 days");
    expect(soon).toMatchObject({
      status: "warning",
      what: expect.stringMatching(
        new RegExp(
          `^the disk of ${site.stateDir} is full in about \\d+ days \\(.*\\) at the rate of the last 7 days \\([\\d.]+ GB more a day, most of it archive [\\d.]+ GB; `,
        ),
      ),
      remedy: "make room, or keep less by retention.archive: `dropgate prune --dry-run` tells what would go",
    });
    // No reason to keep the service down.
    expect(exitCode).toBe(0);
    expect(await text()).toMatch(/^warning {2}the disk of .* is full in .* {2}→ make room, or keep less/m);
    // What is kept for 5 days only is as much as it will ever be.
    await site.configure({ retention: { archive: 5, receipts: 5 } });
    expect(about((await check()).findings, "at the rate of the last")?.what).not.toContain("archive");
    await emptyLedger();
  });

  test("is forecast where more comes than leaves by its age, in a state that is older than that", async () => {
    await site.configure({ retention: { archive: 30, receipts: 30 } });
    const { bavail, bsize } = await statfs(site.stateDir);
    const size = Math.round((bavail * bsize) / 50_000);
    await change((tx) => files(tx, { from: 60, to: 0, perDay: 100, size }));
    const archive = async () => about((await check()).findings, "at the rate of the last");
    expect(await archive()).toMatchObject({ status: "ok", what: expect.not.stringContaining("archive") });
    await change((tx) => sql`delete from files where received_at > ${Date.now() - 5 * dayMs}`.execute(tx));
    await change((tx) => files(tx, { from: 5, to: 0, perDay: 10_000, size }));
    expect(await archive()).toMatchObject({
      status: "warning",
      what: expect.stringMatching(/ is full in .* at the rate of the last 7 days .* most of it archive /),
    });
    // What comes is as much as before, and leaves sooner.
    await site.configure({ retention: { archive: 2, receipts: 2 } });
    expect(await archive()).toMatchObject({ status: "ok", what: expect.not.stringContaining("archive") });
    await emptyLedger();
  });

  test.skipIf(!mayMount)(
    "to which old files are moved is forecast as well, and its folder checked",
    async () => {
      const disk = startTinyDisk();
      const moveTo = join(disk.path, "old");
      try {
        await site.configure({ retention: { archive: 10, moveTo } });
        await change((tx) => files(tx, { from: 20, to: 0, perDay: 10, size: 4_096 }));
        const missing = await check();
        expect(about(missing.findings, "retention.moveTo")).toMatchObject({
          status: "warning",
          what: expect.stringMatching(
            /^the folder that old files are moved to, .*\/old \(retention\.moveTo\), .* \(ENOENT\)/,
          ),
        });
        expect(about(missing.findings, `${moveTo} is full`)).toBeUndefined();
        await mkdir(moveTo);
        const { findings, exitCode } = await check();
        expect(about(findings, "(retention.moveTo), can be written")?.status).toBe("ok");
        const disks = findings.filter(({ what }) => what.startsWith("the disk of"));
        expect(disks.at(-1)).toMatchObject({
          status: "warning",
          what: expect.stringMatching(
            /\/old is full in about \d+ days .* most of it what is moved from archive /,
          ),
          remedy: "make room",
        });
        expect(exitCode).toBe(0);
      } finally {
        await emptyLedger();
        await disk.end();
      }
    },
  );
});

// A server has tools of its own for backups, of which dropgate knows nothing.
itOnSqlite("a backup that is too old is warned about", async () => {
  await site.configure({ backup: { folder: join(site.folder, "backups") } });
  const begunAt = Date.now() - 3 * dayMs;
  const last = { folder: "/srv/b/1", begunAt, endedAt: begunAt, files: 1, bytes: 1, discrepancies: 0 };
  await change((tx) => noteLastBackup(tx, last));
  const { findings, text } = await check();
  expect(about(findings, "the last backup is of")?.status).toBe("warning");
  expect(await text()).toMatch(
    /^warning {2}the last backup is of .* \(\/srv\/b\/1\), older than backup\.warnAfterHours {2}→ make one/m,
  );
  await change((tx) => tx.deleteFrom("meta").where("key", "=", "last_backup").execute());
});

describe("the clock", () => {
  test("that is behind what is written in the state is named, by how much, and what is wrong until then", async () => {
    await site.configure({});
    const found = async () => about((await check()).findings, "the clock ");
    await change((tx) => files(tx, { from: 1, to: 0, perDay: 50, size: 1 }));
    expect((await found())?.status).toBe("ok");
    await change((tx) => files(tx, { from: -3, to: -4, perDay: 1, size: 1 }));
    // Later rows of the clock that was set right.
    await change((tx) => files(tx, { from: 1, to: 0, perDay: 50, size: 1 }));
    expect(await found()).toMatchObject({
      status: "warning",
      what: expect.stringMatching(
        /^the clock is 2 days behind the state: .* a file was received .* Until it is as late/,
      ),
      remedy: expect.stringContaining("timedatectl"),
    });
    await emptyLedger();
    // As far as the network sets a clock back.
    await change((tx) => files(tx, { from: -4 / (24 * 60), to: -1, perDay: 1, size: 1 }));
    expect((await found())?.status).toBe("ok");
    await emptyLedger();
  });
});

describe("the systemd unit", () => {
  test("that does not let the service write a drop folder is named with the commands for a drop-in, which help", async () => {
    const units = join(site.folder, "units");
    // Not below /tmp, which the unit has of its own.
    const [share, unit] = ["/srv/dropgate-check-test", join(units, "dropgate.service")];
    await mkdir(units);
    const shipped = await readFile(new URL("../../systemd/dropgate.service", import.meta.url), "utf8");
    await writeFile(
      unit,
      `${shipped.replace("/etc/dropgate/dropgate.yaml", site.configFile)}\n[Service]\nPrivateTmp=no\nReadWritePaths=${site.stateDir}\n`,
    );
    await site.configure({ companies: { [company]: { folders: [{ path: share }] } } });
    const before = await check({ SYSTEMD_UNIT_PATH: units });
    // The unit runs the check before each start: what is read out of it keeps no service down.
    expect(before.exitCode).toBe(0);
    const finding = about(before.findings, "dropgate.service");
    expect(finding).toMatchObject({
      status: "warning",
      what: `the unit dropgate.service (${unit}) does not let the service write ${share}, a drop folder of ${company} (ProtectSystem=strict)`,
    });
    expect(await before.text()).toContain(`warning  ${finding?.what}  → ${finding?.remedy}`);
    const [made, written] = finding?.remedy?.replace("as root: ", "").split(" && ") ?? [];
    const commands = `${made} && ${written}`.replaceAll("/etc/systemd/system", units);
    expect((await runProgram("sh", ["-c", commands])).exitCode).toBe(0);
    const after = await check({ SYSTEMD_UNIT_PATH: units });
    expect(about(after.findings, "dropgate.service")?.status).toBe("ok");
    expect(after.exitCode).toBe(0);
  });
});

describe("certificates", () => {
  test("of the server and of a client are named with their last day before it comes, and when it is over", async () => {
    const folder = join(site.folder, "certificates");
    await mkdir(folder);
    const authority = await makeAuthority(folder);
    const server = await authority.issue("server", { days: 20 });
    const client = await authority.issue("client", { days: 3 });
    const late = await authority.issue("late", { days: -1 });
    const https = { type: "https", url: "https://tms.example.com/", ca: authority.caFile };
    const targetOf = ({ certificateFile, keyFile }: typeof client) => ({
      ...{ ...https, certificate: certificateFile, privateKey: keyFile },
    });
    await site.configure({
      http: { tls: { certFile: server.certificateFile, keyFile: server.keyFile } },
      companies: { [company]: { outbound: { targets: { tms: targetOf(client), old: targetOf(late) } } } },
    });
    const { findings, text, exitCode } = await check();
    expect(exitCode).toBe(0);
    expect(about(findings, server.certificateFile)).toMatchObject({
      status: "warning",
      what: expect.stringMatching(/valid until \d{4}-\d\d-\d\dT.*: (19|20) days left$/),
      remedy: "renew it, then reload, soon",
    });
    expect(about(findings, client.certificateFile)?.remedy).toBe("get a new one, then reload, this week");
    expect(about(findings, `${late.certificateFile} of the target old of ${company} expired`)?.status).toBe(
      "warning",
    );
    expect(await text()).toContain(
      `warning  the client certificate ${client.certificateFile} of the target tms`,
    );
    await site.configure({ http: { tls: { certFile: late.certificateFile, keyFile: late.keyFile } } });
    const over = await check();
    expect(over.exitCode).toBe(2);
    expect(about(over.findings, late.certificateFile)?.status).toBe("problem");
  });
});
