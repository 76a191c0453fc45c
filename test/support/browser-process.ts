/** Chromium of the system, as tests and measurements start it. */
import { type Browser, chromium } from "playwright-core";
import { isInstalled } from "./run-program.ts";
import { patienceMs } from "./wait-for.ts";

/** The one that has no windows does the same with less than half of the work. */
const found = ["chromium-headless-shell", "chromium"].find(isInstalled);

/** `install-system-programs.sh` says it when there is none; with CI set that is an error. */
export const hasBrowser = found !== undefined;

/** Without a window; ended by `close()`. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: `/usr/bin/${found}`,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
    timeout: patienceMs,
  });
}
