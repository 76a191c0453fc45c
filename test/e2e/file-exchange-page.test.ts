/** The commands of docs/file-exchange.md, run one after another by their own clients against a real daemon. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeAuthority } from "../support/certificates.ts";
import { company, oneParser, Site } from "../support/daemon.ts";
import { blocksIn, projectFolder } from "../support/markdown.ts";
import { isInstalled, type ProgramResult, runProgram } from "../support/run-program.ts";
import { user } from "../support/site-template.ts";
import { stopFile } from "../support/stop-files.ts";

const page = "docs/file-exchange.md";
const sample = "1001_20261105_080000.xml";
const ofFtp = "a-4711_20261105_080000.xml";

/** Clients that are not installed everywhere. */
const clients = ["rclone", "psftp", "lftp", "curl", "sftp", "scp"];

let site: Site;
/** Home and working folder of who follows the page. */
let home: string;
let caFile: string;
let fingerprint: string;

/** OpenSSH as it is typed, but that it knows the key of the server from a file of the test. */
function writeClients(): void {
  const config = ["Host *", `UserKnownHostsFile ${site.knownHostsFile}`, "GlobalKnownHostsFile /dev/null"];
  writeFileSync(join(home, "ssh_config"), [...config, "IdentityAgent none", ""].join("\n"));
  mkdirSync(join(home, "bin"));
  for (const name of ["sftp", "scp", "ssh"]) {
    const client = `#!/bin/sh\nPATH=\${PATH#*:}\nexec ${name} -F ${home}/ssh_config "$@"\n`;
    writeFileSync(join(home, "bin", name), client, { mode: 0o755 });
  }
  mkdirSync(join(home, ".ssh"), { mode: 0o700 });
  copyFileSync(site.keyFile, join(home, ".ssh/id_ed25519"));
}

/** Undefined when its client is not installed. */
async function run(block: string): Promise<ProgramResult | undefined> {
  const named = clients.filter((name) => new RegExp(`(?:^|[|] )${name} `, "m").test(block));
  if (!named.every(isInstalled)) return undefined;
  const places: readonly (readonly [shown: RegExp, own: string])[] = [
    [/\bgateway\.example\.com:2121\b/g, `127.0.0.1:${site.ftpPort}`],
    [/\b2222\b/g, String(site.sftpPort)],
    [/http:\/\/127\.0\.0\.1:8080/g, site.http],
    [/\bdemo(?=[@:,])|(?<=user=)demo\b/g, user],
    [/\bDEMO\b/g, company],
    [/(?<=cat )var\/demo\.password/g, site.passwordFile],
    [/@config\//g, `@${projectFolder}/config/`],
    // The page says that the receipt comes a moment later.
    [/^sftp .*:\/receipts\/.*$/gm, "until $&; do sleep 0.2; done"],
  ];
  const text = places.reduce((result, [shown, own]) => result.replaceAll(shown, own), block);
  const env = {
    ...process.env,
    ...{ HOME: home, PATH: `${join(home, "bin")}:${process.env["PATH"]}`, CURL_CA_BUNDLE: caFile },
    ...{ DROPGATE_PASSWORD: site.password, FINGERPRINT: fingerprint },
    USER_AND_PASSWORD: `${user}:${site.password}`,
  };
  return await runProgram("bash", ["--norc", "-euc", text], { cwd: home, env });
}

beforeAll(async () => {
  site = await Site.make({ inbound: oneParser });
  const authority = await makeAuthority(site.folder);
  const { certificateFile: certFile, keyFile } = await authority.issue("gateway");
  ({ caFile } = authority);
  await site.reconfigure({ ftp: { enabled: true, tls: { certFile, keyFile } } });
  await site.start();
  home = join(site.folder, "home");
  mkdirSync(home);
  writeClients();
  copyFileSync(join(projectFolder, "config/samples", sample), join(home, sample));
  writeFileSync(join(home, ofFtp), stopFile("A-4711").content);
  const told = await runProgram("ssh-keygen", ["-lf", join(site.stateDir, "keys/ssh_host_ed25519_key")]);
  [fingerprint = ""] = /(?<=SHA256:)\S+/.exec(told.stdout) ?? [];
});
afterAll(() => site.end());

test("each command of the page succeeds with the client that it names", async () => {
  const blocks = blocksIn(page).flatMap(({ language, text }) => (language === "sh" ? [text] : []));
  expect(blocks.length).toBeGreaterThan(6);
  const left: string[] = [];
  const outputs: string[] = [];
  for (const block of blocks) {
    const result = await run(block);
    expect(result?.exitCode ?? 0, `${block}\n${result?.output}`).toBe(0);
    if (result === undefined) left.push(block);
    outputs.push(result?.output ?? "");
  }
  expect(left.filter((block) => !/^(?:rclone|psftp) /m.test(block))).toEqual([]);
  const outputOf = (word: string) => outputs[blocks.findIndex((block) => block.includes(word))];
  expect(outputOf("until sftp")).toBe("applied\n");
  expect(outputOf("/api/stop/")).toContain("<Status>10</Status>");
  expect(readFileSync(join(home, sample.replace(".xml", ".receipt.xml")), "utf8")).toContain("<StopResponse");
  const files = await site.json<readonly { readonly name: string }[]>("files");
  expect(new Set(files.map(({ name }) => name))).toEqual(new Set([sample, ofFtp]));
});
