import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate for 127.0.0.1 and localhost that nobody has signed. */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-cert-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  try {
    execFileSync("openssl", ["req", "-x509", ...kind, ...names, "-keyout", key, "-out", cert], {
      stdio: "ignore",
    });
    return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
