/** Checks of what dropgate runs on: ports, keys, certificates, schemas, time zones, the database. */
import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { ParseOption, XmlDocument, XsdValidator } from "libxml2-wasm";
import type { Config } from "../config/schema.ts";
import { prepareStopReader } from "../documents/read-stop-document.ts";
import { isTimeZone } from "../domain/local-time.ts";
import { messageOf, systemCodeOf } from "../lib/errors.ts";
import { inspectStore, type StoreInspection } from "../store/inspect-store.ts";
import { type CheckFinding, fine, problem, warning } from "./check-finding.ts";

const dayMs = 86_400_000;

/** Listens for a moment; the code of the failure, undefined when the port is free. */
function tryPort(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(systemCodeOf(error) ?? messageOf(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

interface Listener {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

async function checkPort(
  { name, host, port }: Listener,
  daemonPid: number | undefined,
): Promise<CheckFinding> {
  const where = `${name} port ${port} on ${host}`;
  if (port === 0) return fine(`${name} takes any free port on ${host}`);
  const failure = await tryPort(host, port);
  if (failure === undefined) return fine(`${where} is free`);
  if (failure === "EADDRINUSE" && daemonPid !== undefined) {
    return fine(`${where} is in use, as it should be: dropgate is running (process ${daemonPid})`);
  }
  const remedies: Readonly<Record<string, string>> = {
    EADDRINUSE: "stop the program that listens there, or set another port",
    EACCES: "set a port above 1023, or give the service CAP_NET_BIND_SERVICE",
    EADDRNOTAVAIL: "set an address of this machine",
    ENOTFOUND: "set an address or a host name of this machine",
  };
  return problem(`${where} cannot be used (${failure})`, remedies[failure] ?? "set another address or port");
}

/** Whether the ports are free, or in use by our own daemon. */
export async function checkPorts(
  config: Config,
  daemonPid: number | undefined,
): Promise<readonly CheckFinding[]> {
  const { http, sftp } = config;
  const findings = [await checkPort({ name: "HTTP", host: http.host, port: http.port }, daemonPid)];
  if (sftp.enabled)
    findings.push(await checkPort({ name: "SFTP", host: sftp.host, port: sftp.port }, daemonPid));
  else findings.push(fine("SFTP is switched off"));
  return findings;
}

async function checkMode(path: string, what: string): Promise<CheckFinding> {
  const { mode } = await stat(path);
  if ((mode & 0o077) === 0) return fine(`${what} ${path} is for its owner alone`);
  const shown = (mode & 0o777).toString(8).padStart(4, "0");
  return problem(`${what} ${path} has mode ${shown}: others can use it`, `chmod 600 ${path}`);
}

/** The SSH host keys are there and for nobody else. */
export async function checkHostKeys(config: Config): Promise<readonly CheckFinding[]> {
  const folder = join(config.stateDir, "keys");
  const names = existsSync(folder) ? (await readdir(folder)).filter((name) => name.endsWith("_key")) : [];
  if (names.length === 0)
    return [warning("there is no SSH host key yet", "`dropgate init` or the first start makes it")];
  return await Promise.all(names.map((name) => checkMode(join(folder, name), "the host key")));
}

/** Certificate and key of HTTPS belong together, can be read and are valid. */
export async function checkTls({ http }: Config): Promise<readonly CheckFinding[]> {
  const { tls } = http;
  if (tls === undefined) return [];
  try {
    const [cert, key] = await Promise.all([readFile(tls.certFile), readFile(tls.keyFile)]);
    const passphrase = tls.keyPassphrase?.reveal();
    createSecureContext({ cert, key, ...(passphrase === undefined ? {} : { passphrase }) });
    const validTo = new Date(new X509Certificate(cert).validTo);
    const days = Math.floor((validTo.getTime() - Date.now()) / dayMs);
    const what = `the certificate ${tls.certFile} is valid until ${validTo.toISOString()}`;
    if (days < 0)
      return [problem(`the certificate ${tls.certFile} expired ${validTo.toISOString()}`, "renew it")];
    return [days < 14 ? warning(what, "renew it soon") : fine(what)];
  } catch (error) {
    return [problem(`certificate and key of HTTPS cannot be used: ${messageOf(error)}`, "correct http.tls")];
  }
}

const schemaFolder = new URL("../../xsd/", import.meta.url);

async function checkSchemaFile(name: string): Promise<CheckFinding> {
  try {
    const document = XmlDocument.fromBuffer(await readFile(new URL(name, schemaFolder)), {
      option: ParseOption.XML_PARSE_NONET,
    });
    try {
      XsdValidator.fromDoc(document).dispose();
    } finally {
      document.dispose();
    }
    return fine(`xsd/${name} compiles`);
  } catch (error) {
    return problem(`xsd/${name} cannot be used: ${messageOf(error)}`, "install dropgate again");
  }
}

/** The schema that documents are held to, and the files that describe it to hosts. */
export async function checkSchemas(): Promise<readonly CheckFinding[]> {
  try {
    prepareStopReader();
  } catch (error) {
    return [
      problem(`the schema of stop documents does not compile: ${messageOf(error)}`, "install dropgate again"),
    ];
  }
  return await Promise.all(["stop.xsd", "stop-response.xsd"].map(checkSchemaFile));
}

const sampleZones = [
  "Europe/Berlin",
  "America/New_York",
  "America/Los_Angeles",
  "Asia/Tokyo",
  "Australia/Sydney",
];

/** Time zones come with Node, but for builds without its international data. */
export function checkZones(): CheckFinding {
  const missing = sampleZones.filter((zone) => !isTimeZone(zone));
  if (missing.length === 0) return fine("time zones are known");
  return problem(
    `time zones are not known (${missing.join(", ")})`,
    "use a Node.js with full international data",
  );
}

function checkInspection(found: StoreInspection & { kind: "present" }): CheckFinding {
  const what = `the database has schema ${found.schema}, SQLite ${found.sqliteVersion}, WAL, synchronous=FULL`;
  if (found.instanceId === found.marker) return fine(what);
  if (found.instanceId === undefined || found.marker === undefined) {
    return warning(`${what}; its instance marker is not complete`, "the next start completes it");
  }
  const remedy = "restore the database that belongs here, or remove dropgate.instance if this one is meant";
  return problem("the database is not the one that belongs here: its instance marker differs", remedy);
}

export interface CheckedStore {
  readonly findings: readonly CheckFinding[];
  readonly companies: readonly string[];
}

/** The database can be opened with the pragmas that durability rests on, and is the one that belongs here. */
export async function checkStore(stateDir: string): Promise<CheckedStore> {
  try {
    const found = await inspectStore(stateDir);
    if (found.kind === "present") {
      return { findings: [checkInspection(found)], companies: found.companies.map(({ code }) => code) };
    }
    const finding = found.isMissing
      ? problem(
          `the database in ${stateDir} is missing although its marker is there`,
          "restore it from a backup",
        )
      : warning("there is no database yet", "`dropgate init` or the first start makes it");
    return { findings: [finding], companies: [] };
  } catch (error) {
    const remedy = "see that the file is readable and whole, or restore it from a backup";
    return {
      findings: [problem(`the database cannot be opened: ${messageOf(error)}`, remedy)],
      companies: [],
    };
  }
}
