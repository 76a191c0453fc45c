/** From the configuration of a server of others, be it of a target or a remote, to how it is reached. */
import type { RemoteConfig, TargetConfig } from "../../config/schema.ts";
import { plainFingerprint, type ServerSettings } from "../../remote/server-settings.ts";

type ServerConfig = Extract<TargetConfig | RemoteConfig, { readonly type: "sftp" | "ftp" | "ftps" }>;

const longestConnectMs = 15_000;
const longestSilenceMs = 20_000;

/** The folder on the server; undefined is the one that the user is in after signing in. */
export function directoryOf({ directory }: ServerConfig): string | undefined {
  return directory === "." ? undefined : directory;
}

/** `ca`: the content of the file that the setting names. `keepMs`: how long a connection is kept without work. */
export function serverSettingsOf(
  settings: ServerConfig,
  { ca, keepMs }: { readonly ca: string | undefined; readonly keepMs: number },
): ServerSettings {
  const { host, user, timeoutMs } = settings;
  const connectMs = Math.min(longestConnectMs, timeoutMs);
  const silenceMs = Math.min(longestSilenceMs, timeoutMs);
  const password = settings.password?.reveal();
  const shared = { host, user, password, times: { connectMs, silenceMs, keepMs } };
  if (settings.type === "sftp") {
    const { port, privateKey, passphrase, hostKeys = [] } = settings;
    const key = { privateKey: privateKey?.reveal(), passphrase: passphrase?.reveal() };
    return { kind: "sftp", ...shared, port, ...key, hostKeys };
  }
  if (settings.type === "ftp") {
    const none = { ca: undefined, certificateFingerprint: undefined };
    return { kind: "ftp", ...shared, port: settings.port, security: "plain", ...none };
  }
  const { tls: security, certificateFingerprint } = settings;
  return {
    ...{ kind: "ftp", ...shared, security, ca },
    port: settings.port ?? (security === "implicit" ? 990 : 21),
    certificateFingerprint:
      certificateFingerprint === undefined ? undefined : plainFingerprint(certificateFingerprint),
  };
}
