/** Rules of the settings by which deliveries and remotes sign in to servers. */
import { type RuleFault, when } from "./rule-fault.ts";
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

/** `path` is that of the section. */
export function checkServer(settings: ServerConfig, path: string): RuleFault[] {
  if (settings.type === "sftp") return checkSftp(settings, path);
  return settings.type === "ftp" ? checkFtp(settings, path) : [];
}
