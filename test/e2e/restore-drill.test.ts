/** The restore drill in small; `test/nightly/restore-drill.ts` has it in full. */
import { expect, test } from "vitest";
import { restoreDrill } from "../support/restore-drill.ts";
import { isInstalled } from "../support/run-program.ts";
import { isOnPostgres } from "../support/store-dialect.ts";

// A backup by dropgate copies the file of SQLite; a server has tools of its own.
test.skipIf(isOnPostgres || !isInstalled("sshd"))(
  "after a disaster nothing is applied twice, and what goes out twice has the same id or name, and the same bytes",
  async () => {
    const report = await restoreDrill({ files: { before: 3, after: 5 }, stops: { before: 4, after: 2 } });
    const { twice, announced, sentAgain, duplicates, ...rest } = report;
    expect(rest).toMatchObject({ notOnce: [], beforeRelease: 0 });
    expect(report.ledger).toContain("The ledger is correct");
    expect(sentAgain).toBeGreaterThan(5);
    expect(duplicates).toBeGreaterThan(0);
    // The one that waited at the backup goes out again; what the driver reports again has an id of its own.
    expect(twice.host).toEqual({ same: 1, other: [], again: 2, unknown: [] });
    // A name that is there with the same bytes is not written again.
    for (const target of [twice.partner, twice.share])
      expect(target).toEqual({ same: 6, other: [], again: 0, unknown: [] });
    // Not collected at the backup, but since; and those that the driver reports again.
    const stops = ["s3", "s4"].map((stop) => expect.stringMatching(`/outbound/${stop}_[0-9_]+\\.xml$`));
    expect(announced.toSorted()).toEqual(stops);
    expect(twice.outbound).toEqual({ same: 4, other: [], again: 0, unknown: [] });
  },
);
