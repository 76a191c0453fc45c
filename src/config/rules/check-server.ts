/** Rules of the settings by which deliveries and remotes sign in to servers. */
import { type Placed, type RuleFault, when } from "./rule-fault.ts";
import type { RemoteConfig, TargetConfig } from "../schema.ts";

type ServerConfig = Extract<TargetConfig | RemoteConfig, { type: "sftp" | "ftp" | "ftps" }>;
type Of<Type extends ServerConfig["type"]> = Extract<ServerConfig, { type: Type }>;

function checkSftp(settings: Of<"sftp">, path: string): RuleFault[] {
  const { password, privateKey, passphrase } = settings;
  return [
    ...when(password !== undefined && privateKey !== undefined, {
      path: `${path}.privateKey`,
      message: "and password are two ways to sign in; remove one of them",
    }),
    ...when(password === undefined && privateKey === undefined, {
      path,
      message: "has no way to sign in; set password or privateKey",
    }),
    ...when(passphrase !== undefined && privateKey === undefined, {
      path: `${path}.passphrase`,
      message: "has no effect without privateKey; set that too, or remove it",
    }),
  ];
}

function checkFtp(settings: Of<"ftp">, path: string): RuleFault[] {
  return when(!settings.allowPlain, {
    path: `${path}.allowPlain`,
    message: "has to be true for ftp, which sends the password in plain; take type ftps, or set it to true",
  });
}

/** Settings that do not go together. */
export function checkServer({ settings, path }: Placed<ServerConfig>): RuleFault[] {
  if (settings.type === "sftp") return checkSftp(settings, path);
  return settings.type === "ftp" ? checkFtp(settings, path) : [];
}

/** Nothing is done with an SFTP server whose host key is not known; `withoutKeys` says so. */
export function warnOfHostKeys({ settings, path }: Placed<TargetConfig | RemoteConfig>, withoutKeys: string) {
  return when(settings.type === "sftp" && (settings.hostKeys ?? []).length === 0, {
    path: `${path}.hostKeys`,
    message: `has no fingerprint, so ${withoutKeys}`,
  });
}
