/** The FTP clients that hosts use, against the real program: with explicit and implicit TLS, and without where that is allowed. */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectApplied } from "../support/applied-files.ts";
import { getStop } from "../support/clients.ts";
import { Site } from "../support/daemon.ts";
import {
  type CertificateFiles,
  classicFtp,
  curlFtp,
  type FtpMode,
  ftpSettings,
  lftpFtp,
  makeCertificateFiles,
  withBasicFtp,
} from "../support/ftp-clients.ts";
import { isInstalled, type ProgramResult } from "../support/run-program.ts";
import {
  fileName,
  receiptFor,
  receiptName,
  type StopFile,
  stopFile,
  waitingIn,
  writeLocally,
} from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

const modes: readonly FtpMode[] = ["explicit", "implicit", "plain"];

let site: Site;
let certificate: CertificateFiles;

beforeAll(async () => {
  certificate = makeCertificateFiles();
  site = await Site.make({ ftp: ftpSettings(certificate, { allowPlain: true }) });
  await site.start();
});
afterAll(async () => {
  await site.end();
  certificate.remove();
});

const at = (mode: FtpMode) => ({ certFile: certificate.certFile, mode });

function expectDone({ exitCode, output }: ProgramResult): void {
  expect(exitCode, output).toBe(0);
}

interface Entry {
  readonly name: string;
  readonly channel: string;
}

/** Big enough to be caught in the middle, and no two parts of it alike. */
function bigFile(stopNbr: string): StopFile {
  return stopFile(stopNbr, { more: `<!-- ${randomBytes(900_000).toString("base64")} -->` });
}

async function partOf(name: string): Promise<number> {
  const folder = site.path("inbound", ".partial");
  const path = (await readdir(folder, { recursive: true })).find((each) => each.endsWith(name));
  return path === undefined ? 0 : (await stat(join(folder, path))).size;
}

/** Starts a slow put and ends the client by force in the middle of it. */
async function breakUpload(
  file: StopFile,
  put: (onStart: (child: ChildProcess) => void) => Promise<unknown>,
) {
  await writeLocally(site, [file]);
  const children: ChildProcess[] = [];
  const over = put((child) => void children.push(child));
  await waitFor("a part of the upload", async () => (await partOf(file.name)) > 50_000);
  for (const child of children) child.kill("SIGKILL");
  await over;
  await site.daemon.waitForLog(
    (line) => line.msg === "upload interrupted" && String(line["file"]).includes(file.name),
  );
  expect(await partOf(file.name)).toBeLessThan(String(file.content).length);
}

/** Another file goes through, and nothing is heard of the broken one. */
async function expectNoFile(file: StopFile): Promise<void> {
  const other = stopFile(`N${file.name.slice(0, 6)}`);
  await writeLocally(site, [other]);
  expectDone(await curlFtp(site, "/inbound/", ["-T", other.name], at("explicit")));
  await receiptFor(site, other.name);
  expect(await waitingIn(site)).toEqual([]);
  expect(existsSync(site.path("receipts", receiptName(file.name)))).toBe(false);
  const entries = await site.json<Entry[]>("files");
  expect(entries.map(({ name }) => name)).not.toContain(file.name);
}

/** The daemon knows that the client has all of it, and not only that all was sent. */
async function expectDownloaded(path: string): Promise<void> {
  await site.daemon.waitForLog(({ msg, file }) => msg === "downloaded" && file === path);
}

describe.skipIf(!isInstalled("curl")).each(modes)("curl, %s TLS", (mode) => {
  const stopNbr = (number: number) => `CU${mode.slice(0, 2)}${number}`;

  test("puts, gets and lists", async () => {
    const file = stopFile(stopNbr(1));
    await writeLocally(site, [file]);
    expectDone(await curlFtp(site, "/inbound/", ["-T", file.name], at(mode)));
    await expectApplied(site, file);
    const receipt = `/receipts/${receiptName(file.name)}`;
    const down = await curlFtp(site, receipt, [], at(mode));
    expect(down.stdout).toContain("<Status>10</Status>");
    await expectDownloaded(receipt);
    const list = await curlFtp(site, "/receipts/", ["--list-only"], at(mode));
    expect(list.stdout.split("\n").map((line) => line.trim())).toContain(receiptName(file.name));
    expect((await curlFtp(site, "/", [], at(mode))).stdout).toMatch(/^drwx.* inbound\r?$/m);
    const entries = await site.json<Entry[]>("files");
    expect(entries.find(({ name }) => name === file.name)?.channel).toBe("ftp");
  });

  test("puts several in one session, and renames", async () => {
    const files = [2, 3, 4].map((number) => stopFile(stopNbr(number)));
    await writeLocally(site, files);
    const names = files.map(({ name }) => name).join(",");
    expectDone(await curlFtp(site, "/inbound/", ["-T", `{${names}}`], at(mode)));
    for (const file of files) await expectApplied(site, file);
    const renamed = stopFile(stopNbr(5));
    await writeLocally(site, [renamed]);
    const rename = ["-Q", `-RNFR ${renamed.name}.part`, "-Q", `-RNTO ${renamed.name}`];
    expectDone(
      await curlFtp(site, `/inbound/${renamed.name}.part`, ["-T", renamed.name, ...rename], at(mode)),
    );
    await expectApplied(site, renamed);
  });

  test("that is killed in the middle leaves a part, and goes on with -C -", async () => {
    const file = bigFile(stopNbr(6));
    await breakUpload(file, (onStart) =>
      curlFtp(site, "/inbound/", ["--limit-rate", "300k", "-T", file.name], {
        ...at(mode),
        run: { onStart },
      }),
    );
    await expectNoFile(file);
    expectDone(await curlFtp(site, "/inbound/", ["-C", "-", "-T", file.name], at(mode)));
    await expectApplied(site, file);
  });
});

describe.skipIf(!isInstalled("lftp")).each(modes)("lftp, %s TLS", (mode) => {
  const stopNbr = (number: number) => `LF${mode.slice(0, 2)}${number}`;

  test("puts, with and without a temporary name of its own, gets, lists, renames and deletes", async () => {
    const files = [1, 2, 3].map((number) => stopFile(stopNbr(number)));
    const [plain, temporary, renamed] = files.map(({ name }) => name);
    await writeLocally(site, files);
    const commands = [
      `put -O /inbound ${plain}`,
      "set xfer:use-temp-file yes",
      `put -O /inbound ${temporary}`,
      "set xfer:use-temp-file no",
      `put ${renamed} -o /inbound/${renamed}.tmp`,
      `mv /inbound/${renamed}.tmp /inbound/${renamed}`,
      "cls -l /",
      "ls /inbound",
    ];
    expectDone(await lftpFtp(site, commands, at(mode)));
    for (const file of files) await expectApplied(site, file);
    const receipt = receiptName(files[0]?.name ?? "");
    const down = await lftpFtp(
      site,
      [`get /receipts/${receipt} -o ${receipt}`, `rm /receipts/${receipt}`, "cls /receipts"],
      at(mode),
    );
    expectDone(down);
    expect(await readFile(join(site.client, receipt), "utf8")).toContain("<Status>10</Status>");
    expect(down.stdout).not.toContain(receipt);
    await expectDownloaded(`/receipts/${receipt}`);
  });

  test("mirrors a folder down", async () => {
    const file = stopFile(stopNbr(4));
    await writeLocally(site, [file]);
    expectDone(await lftpFtp(site, [`put -O /inbound ${file.name}`], at(mode)));
    await expectApplied(site, file);
    const result = await lftpFtp(site, [`mirror /archive ${mode}-mirror`], at(mode));
    expectDone(result);
    const found = await readdir(join(site.client, `${mode}-mirror`), { recursive: true });
    expect(found.some((path) => path.endsWith(file.name))).toBe(true);
  });

  test("that is killed in the middle leaves a part, and goes on with put -c", async () => {
    const file = bigFile(stopNbr(5));
    await breakUpload(file, (onStart) =>
      lftpFtp(site, ["set net:limit-rate 0:300000", `put -O /inbound ${file.name}`], {
        ...at(mode),
        run: { onStart },
      }),
    );
    await expectNoFile(file);
    expectDone(await lftpFtp(site, [`put -c -O /inbound ${file.name}`], at(mode)));
    await expectApplied(site, file);
  });
});

describe.skipIf(!isInstalled("ftp"))("the classic ftp", () => {
  test("puts, gets, lists and takes several by a pattern", async () => {
    const files = [stopFile("CL1"), stopFile("CL2"), stopFile("CL3")];
    await writeLocally(site, files);
    const [first, second, third] = files.map(({ name }) => name);
    const up = await classicFtp(site, [
      "cd inbound",
      `put ${first}`,
      `mput ${second}`,
      "ascii",
      `put ${third} ${third}.part`,
      `rename ${third}.part ${third}`,
      "ls",
      "pwd",
    ]);
    for (const file of files)
      expect(await receiptFor(site, file.name), up.output).toMatchObject({ status: 10, records: [1, 0, 0] });
    const down = await classicFtp(site, [
      "cd receipts",
      "mget cl?_*.receipt.xml",
      "dir",
      "delete nothing.xml",
    ]);
    for (const { name } of files) {
      const receipt = receiptName(name);
      expect(await readFile(join(site.client, receipt), "utf8"), down.output).toContain(
        "<Status>10</Status>",
      );
      expect(down.output).toMatch(new RegExp(`^-rw.* ${receipt}$`, "m"));
    }
    expect(down.output).toContain("550 No such file");
  });

  test("goes on with a part by reput's way, REST and STOR", async () => {
    const file = stopFile("CL4");
    const text = String(file.content);
    const name = fileName("CL4");
    await writeFile(join(site.client, name), text);
    await writeFile(join(site.client, "front"), text.slice(0, 100));
    // A part under the very name, left by a client whose upload is shorter than it had announced.
    const broken = await classicFtp(site, [
      "quote ALLO 5000",
      `put front inbound/${name}`,
      `quote SIZE inbound/${name}`,
    ]);
    expect(broken.output).toContain("426 Only 100 of the 5000 bytes");
    expect(broken.output).toContain("213 100");
    const again = await classicFtp(site, ["restart 100", `put ${name} inbound/${name}`]);
    await expectApplied(site, file);
    expect(again.output).toContain("226 ");
  });
});

describe.each(modes)("basic-ftp, %s TLS", (mode) => {
  const stopNbr = (number: number) => `BA${mode.slice(0, 2)}${number}`;
  const run = <T>(work: Parameters<typeof withBasicFtp<T>>[2]) =>
    withBasicFtp(site, { cert: certificate.cert, mode }, work);

  test("uploads, renames, lists and downloads", async () => {
    const [direct, renamed] = [stopFile(stopNbr(1)), stopFile(stopNbr(2))];
    await run(async (client) => {
      await client.uploadFrom(Readable.from([Buffer.from(direct.content)]), `/inbound/${direct.name}`);
      await client.uploadFrom(
        Readable.from([Buffer.from(renamed.content)]),
        `/inbound/${renamed.name}.filepart`,
      );
      const waiting = await client.list("/inbound");
      expect(waiting.find(({ name }) => name === `${renamed.name}.filepart`)?.size).toBe(
        renamed.content.length,
      );
      await client.rename(`/inbound/${renamed.name}.filepart`, `/inbound/${renamed.name}`);
      for (const file of [direct, renamed]) await expectApplied(site, file);
      const chunks: Buffer[] = [];
      const sink = new Writable({
        write: (chunk: Buffer, _encoding, done) => done(void chunks.push(chunk) as never),
      });
      await client.downloadTo(sink, `/receipts/${receiptName(direct.name)}`);
      expect(Buffer.concat(chunks).toString()).toContain("<Status>10</Status>");
      await expectDownloaded(`/receipts/${receiptName(direct.name)}`);
    });
  });

  test("goes on after its connection was lost, as WinSCP does: a temporary name, SIZE, REST and a rename", async () => {
    const file = bigFile(stopNbr(3));
    const bytes = Buffer.from(file.content);
    const path = `/inbound/${file.name}`;
    await run(async (client) => {
      const source = new Readable({ read: () => undefined });
      source.push(bytes.subarray(0, 700_000));
      const upload = client.uploadFrom(source, `${path}.filepart`).catch(() => undefined);
      await waitFor("a part", async () => (await partOf(`${file.name}.filepart`)) > 100_000);
      client.close();
      await upload;
    });
    await site.daemon.waitForLog(
      (line) => line.msg === "upload interrupted" && String(line["file"]).includes(file.name),
    );
    await run(async (client) => {
      const size = await client.size(`${path}.filepart`);
      expect(size).toBeGreaterThan(100_000);
      await client.appendFrom(Readable.from([bytes.subarray(size)]), `${path}.filepart`);
      expect(await getStop(site, stopNbr(3))).toBeUndefined();
      await client.rename(`${path}.filepart`, path);
    });
    await expectApplied(site, file);
  });
});

test("after all of this the accounting is right and no secret was logged", async () => {
  const report = await site.json<{ discrepancies: unknown[] }>("ledger", "verify");
  expect(report.discrepancies).toEqual([]);
  site.assertNoSecrets();
});
