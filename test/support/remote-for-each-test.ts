/** A server of remotes for all tests of a group, with folders that are empty before each, and a rig for each of them. */
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { RemoteRig } from "./remote-rig.ts";
import { emptyFolder, type RemoteSite } from "./remote-site.ts";

/** Both are given to `use` before each test. */
export function remoteForEachTest<Site extends RemoteSite>(
  open: () => Promise<Site>,
  use: (site: Site, rig: RemoteRig) => void,
): void {
  let site: Site;
  let rig: RemoteRig;
  beforeAll(async () => {
    site = await open();
  });
  afterAll(() => site.end());
  beforeEach(async () => {
    rig = await RemoteRig.open();
    use(site, rig);
  });
  afterEach(async () => {
    await rig.close();
    for (const folder of [site.box, site.doneBox]) emptyFolder(folder);
  });
}
