/** Certificates of an authority of the test's own, made by openssl. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";

export interface Certificate {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  /** SHA-256, hexadecimal, with colons. */
  readonly fingerprint: string;
}

export interface IssueOptions {
  /** As in `DNS:localhost,IP:127.0.0.1`, which is the default. */
  readonly names?: string;
  /** Default 2; -1 has expired. */
  readonly days?: number;
  readonly isSelfSigned?: boolean;
}

export interface Authority {
  readonly ca: string;
  readonly caFile: string;
  issue(name: string, options?: IssueOptions): Promise<Certificate>;
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

async function openssl(folder: string, ...args: string[]): Promise<string> {
  const { exitCode, output } = await runProgram("openssl", args, { cwd: folder });
  if (exitCode !== 0) throw new Error(`openssl ${args[0]}: ${output}`);
  return output;
}

async function selfSigned(folder: string, name: string, names: string): Promise<void> {
  const files = ["-keyout", `${name}.key`, "-out", `${name}.pem`];
  const subject = ["-days", "2", "-subj", `/CN=${name}`, "-addext", `subjectAltName=${names}`];
  await openssl(folder, "req", "-x509", ...newKey, ...files, ...subject);
}

async function signed(folder: string, name: string, { names = "", days = 2 }: IssueOptions): Promise<void> {
  await openssl(
    folder,
    "req",
    ...newKey,
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.csr`,
    "-subj",
    `/CN=${name}`,
  );
  writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}\n`);
  const by = ["-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial"];
  const what = [
    "-in",
    `${name}.csr`,
    "-out",
    `${name}.pem`,
    "-extfile",
    `${name}.ext`,
    "-days",
    String(days),
  ];
  await openssl(folder, "x509", "-req", ...by, ...what);
}

/** Makes an authority whose files lie in the folder. */
export async function makeAuthority(folder: string): Promise<Authority> {
  const subject = ["-days", "2", "-subj", "/CN=test authority"];
  await openssl(
    folder,
    "req",
    "-x509",
    ...newKey,
    "-keyout",
    "authority.key",
    "-out",
    "authority.pem",
    ...subject,
  );
  const caFile = join(folder, "authority.pem");
  return {
    caFile,
    ca: readFileSync(caFile, "utf8"),
    async issue(name, options = {}) {
      const { names = "DNS:localhost,IP:127.0.0.1", isSelfSigned = false } = options;
      if (isSelfSigned) await selfSigned(folder, name, names);
      else await signed(folder, name, { ...options, names });
      const [certificateFile, keyFile] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
      const print = await openssl(
        folder,
        "x509",
        "-in",
        certificateFile,
        "-noout",
        "-fingerprint",
        "-sha256",
      );
      return {
        certificateFile,
        keyFile,
        certificate: readFileSync(certificateFile, "utf8"),
        key: readFileSync(keyFile, "utf8"),
        fingerprint: /=([0-9A-F:]+)/.exec(print)?.[1] ?? "",
      };
    },
  };
}
