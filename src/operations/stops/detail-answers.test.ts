import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import { openStore } from "../../store/database/database.ts";
import { type DetailKey, detailBytes } from "./detail-answers.ts";

async function opened() {
  const store = await openStore(temporaryFolder());
  onTestFinished(() => store.close());
  let written = 0;
  const read = async (key: DetailKey) =>
    String(
      await detailBytes(store.read, key, async () => {
        written += 1;
        return JSON.stringify(key);
      }),
    );
  return { store, read, written: () => written };
}

it("no two documents are taken for one another: not of another company, kind or number", async () => {
  const { read, written } = await opened();
  const kinds: readonly DetailKey["kind"][] = ["stop", "load", "order", "customer"];
  const keys = kinds.flatMap((kind) =>
    [1, 2, 12].flatMap((companyId) =>
      ["1", "2 1", "12 1", "stop 1 1", "é", "e\u0301"].map((number) => ({ kind, companyId, number })),
    ),
  );
  for (const _time of [1, 2]) {
    for (const key of keys) expect(JSON.parse(await read(key))).toEqual(key);
  }
  expect(written()).toBe(keys.length);
});

it("a document is written anew after a commit, whatever was committed", async () => {
  const { store, read, written } = await opened();
  const key = { kind: "stop", companyId: 1, number: "1" } as const;
  await read(key);
  await store.write((tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
  await read(key);
  await read(key);
  expect(written()).toBe(2);
});

it("what cannot be written is not kept", async () => {
  const { store } = await opened();
  const key = { kind: "stop", companyId: 1, number: "1" } as const;
  const refused = async () => await detailBytes(store.read, key, () => Promise.reject(new Error("921")));
  await expect(refused()).rejects.toThrow("921");
  await expect(refused()).rejects.toThrow("921");
  expect(String(await detailBytes(store.read, key, async () => "{}"))).toBe("{}");
});
