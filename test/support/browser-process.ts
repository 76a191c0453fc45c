/** Chromium of the system, as tests and measurements start it. */
import { type Browser, chromium } from "playwright-core";
import { patienceMs } from "./wait-for.ts";

/** Without a window; ended by `close()`. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
    timeout: patienceMs,
  });
}
