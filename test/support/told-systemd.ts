/** What a daemon tells systemd, by a program that stands for systemd's own and writes it down. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface ToldSystemd {
  /** Has a daemon tell it. */
  readonly env: { readonly NOTIFY_SOCKET: string; readonly DROPGATE_SYSTEMD_NOTIFY: string };
  /** The arguments of each message so far. */
  told(): Promise<readonly string[]>;
}

/** Makes the program in a folder. */
export async function makeToldSystemd(folder: string): Promise<ToldSystemd> {
  const told = join(folder, "told");
  const notify = join(folder, "notify");
  await writeFile(notify, `#!/bin/sh\necho "$@" >>'${told}'\n`, { mode: 0o700 });
  return {
    env: { NOTIFY_SOCKET: join(folder, "notify.socket"), DROPGATE_SYSTEMD_NOTIFY: notify },
    async told() {
      const text = await readFile(told, "utf8").catch(() => "");
      return text.split("\n").filter((line) => line !== "");
    },
  };
}
