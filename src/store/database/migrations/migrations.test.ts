import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import BetterSqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { fingerprintOf, readSchema, schemaMadeBy } from "../sqlite-schema.ts";
import { earlySchemas } from "./early-schemas.ts";
import { migrations } from "./migrations.ts";

/**
 * SHA-256 of the SQL of each migration, in their order. A line that stands here on the main branch is never changed: the
 * databases of users have been through exactly that text.
 */
const frozenTexts = [
  "d9996fec2f54c8a23d6e4acd7c54755eb6b915e15e0f3912f5dc313647123f4c",
  "b287d93345f9cc4118ae2325a89a697694cc2b783707387f3702b2d05834d75f",
  "d4543d0dc5c009d8930441e8cd448b5b2bdf1ee0f6c50c9f453cb16b35799d3f",
  "7670e907ef6da8efbbac510b1f1e8c348e133552dc85e633cf58286d397b0894",
  "f2324462f42f3b4f1cebc54d4ff4766bc9e90192a00fd8f0a3cf12bdf0d25c4c",
  "84bdd72ab74b4458d8b69187921d4b3b128be80d58e6ce274a5142f342686bcb",
  "616542ce9a4ccfd172d6fb8618ecd20c2a537e42c29f879d1c64ea2429c92519",
  "88c6b25623ba10fca9cf3bbc9832a0ab162d1130fb2f00c7643fcaa6dd315b99",
  "fd546445a98dc83edf449970eb8ee6b4ec4c99529365ae52d5f055c987e598fd",
  "bb0000c12d31b64df6dfb86769336b2cce5d96ff70db026a07e1d516866f6154",
  "86e5215c995adfbee9d67fc7333bbb084a4e72c5cdce83f001abf76f0e5720e2",
  "474e4b0d5d1766b9c8420cbed18fd1192b7d46d6c34acbd73d3c728fb17ecdec",
  "a72d181c88a4af21cc2e4c23d25c6ec86618b69e97dc083acdaaee925dbd6d31",
  "6a11e820e29727537a0c8b234d72ba6cd0c58507fbe37093b08030e33ae4ce78",
  "5d8edb22f3104ab2b273530f2643bdceb391f60657f7d4b5c7a4cb005dcf8ce1",
  "4e4ce56e53d2ea35be8e8a2d11d5755cae3e9739305464db6dba72691ebe8d8d",
  "2abfc6e04e391efd0e6245b05d7777cb4c3bb1e2230a0e59b4c6b06d5378714f",
  "37b098c24e231aeaf2bf7019094e528289a1cbf2ee429595ee20156109755140",
  "170b25ac1f249afb4005f0632e8cfc350c9110cc589089d3f8c2e036c50b5dc2",
  "5891187437e1998061fab2f4104fd36f885e9c69290cc804d1fcb42d7641c47d",
  "13d974d92b3eb4cecd488c6a9f76160e7a079de063bcb1b8aa5273786bd33054",
  "9c96a78b564605f7746a9ed3d9674406b77965dfeabf862c935440135c52d186",
  "540a39053bb46553b2a1b6de058b0fcf0ff4832089b5d5db28fcc0b87b3840c3",
  "0d71a7a2f4da18f3f64490b9a836f8b3c9c8a45d1071b3cef05d65462fed733e",
  "82fc4be4265dc47f1c67393fb454447a92cfe1174bca9acb47b09c3a08296516",
];

/** The same of what brings databases from before 0.1.0 to migration 1. */
const frozenEarlyTexts = [
  "772af61be3b63c75fa73e91a264adca5a5290da44bd81641ea9740b2db2a375b",
  "3f7e69daef58bb64f8f2c42103f2daf6c362ed6fdf45a904559ec44396329ee2",
  "41d050a60de9047771e0b356b3c9f7a1bf81d4f26d865a7e5a8892c1467d433c",
  "9c56ff876ec1954a00362a2bb40aedca66761ef8be4f5831420840c72667b59c",
  "863cde8c3bcbcd3364a769a957147a48c67eac24d9a967cb43a5cc2b1bbcea25",
  "526cd17260ab7a8222ea1f0bb9a6750ba8a5f90583883409be0dacc036ecf92e",
  "510532b6dd7346e299e91d6dc3cd9ab99c130476b34f405a9ce4d160c18ca815",
  "66c3e131e2e1587d26f784e4f471dcc03ca85a535a0745f533d34fd3db94b44b",
  "213c3bc5e238387632782bbf4f1116bbebd52cffcf3d4110caa88a8efd730100",
];

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe("migrations", () => {
  it("never change once they are noted here, and each new one is noted", () => {
    expect(migrations.map(({ sql }) => sha256(sql))).toEqual(frozenTexts);
    expect(earlySchemas.map(({ sql }) => sha256(sql))).toEqual(frozenEarlyTexts);
  });

  it("leave the schema that their fingerprint tells, each after those before it", () => {
    const left = migrations.map((_, index) =>
      fingerprintOf(schemaMadeBy(migrations.slice(0, index + 1).map(({ sql }) => sql))),
    );
    expect(migrations.map(({ fingerprint }) => fingerprint)).toEqual(left);
  });

  it("have a file each, numbered without a gap, that imports nothing", () => {
    const folder = new URL(".", import.meta.url);
    const files = readdirSync(folder).filter((name) => /^\d/.test(name));
    expect(files.map((name) => Number(name.slice(0, 4)))).toEqual(migrations.map((_, index) => index + 1));
    for (const name of [...files, ...readdirSync(new URL("early/", folder)).map((one) => `early/${one}`)]) {
      expect(readFileSync(new URL(name, folder), "utf8")).not.toMatch(/\bimport\b|\$\{/);
    }
  });

  it("tell no two schemas by one fingerprint", () => {
    const all = [...earlySchemas, ...migrations].map(({ fingerprint }) => fingerprint);
    expect(new Set(all).size).toBe(all.length);
  });
});

describe("the fingerprint of a schema", () => {
  const ofTables = (...statements: string[]) => fingerprintOf(schemaMadeBy(statements));
  const plain = ofTables("create table a (b text not null, c integer default 'X y')");

  it("is the same whatever the spelling, and after a renaming", () => {
    expect(ofTables(`CREATE  TABLE "a"( "b" TEXT not null,\n c integer  default 'X y' )`)).toBe(plain);
    expect(
      ofTables("create table z (b text not null, c integer default 'X y')", "alter table z rename to a"),
    ).toBe(plain);
  });

  it("is another with another type, default, column or index", () => {
    const others = [
      ofTables("create table a (b text, c integer default 'X y')"),
      ofTables("create table a (b text not null, c integer default 'x y')"),
      ofTables("create table a (b text not null, c integer default 'X y', d text)"),
      ofTables("create table a (b text not null, c integer default 'X y')", "create index i on a (b)"),
      ofTables("create table A2 (b text not null, c integer default 'X y')"),
    ];
    expect(new Set([plain, ...others]).size).toBe(6);
  });

  it("does not count what SQLite makes for itself", () => {
    const database = new BetterSqlite(":memory:");
    database.exec(
      "create table a (id integer primary key autoincrement, b text unique); insert into a (b) values (1)",
    );
    const before = fingerprintOf(readSchema(database));
    database.exec("analyze");
    expect(fingerprintOf(readSchema(database))).toBe(before);
    database.close();
  });
});
