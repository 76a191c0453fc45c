/** Encodings of documents that come to the legacy web service: byte order mark, charset of the request, declaration. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { curl, getStop } from "../support/clients.ts";
import { company, lenient, Site } from "../support/daemon.ts";
import { parseReceipt, stopElement } from "../support/stop-files.ts";

let site: Site;
beforeAll(async () => {
  site = await Site.make({ security: lenient });
  await site.start();
});
afterAll(() => site.end());

const name = "Bäckerei Müller – 5 €";
const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);

const windows1252 = new Map([
  ["€", 0x80],
  ["–", 0x96],
]);

function inWindows1252(text: string): Buffer {
  return Buffer.from([...text].map((letter) => windows1252.get(letter) ?? letter.charCodeAt(0)));
}

interface Sent {
  readonly charset?: string;
  readonly declared?: string;
  readonly encode?: (text: string) => Buffer;
}

let last = 0;

/** Posts a stop with the name above; gives the receipt and the name that was stored. */
async function post({ charset, declared, encode = Buffer.from }: Sent) {
  last += 1;
  const stopNbr = `ENC${last}`;
  const declaration = declared === undefined ? "" : `<?xml version="1.0" encoding="${declared}"?>\n`;
  const text = `${declaration}${stopElement(stopNbr).replace("Corner Shop", name)}`;
  await writeFile(join(site.client, "body.xml"), encode(text));
  const type = `Content-Type: application/xml${charset === undefined ? "" : `; charset=${charset}`}`;
  const url = `${site.http}/api/stop/${company}`;
  const answer = await curl(site, ["-H", type, "--data-binary", "@body.xml", url]);
  const stored = (await getStop(site, stopNbr))?.to?.address?.name;
  return { receipt: parseReceipt(answer.stdout), stored };
}

test.each<[string, Sent]>([
  ["UTF-8 without any word on it", {}],
  ["UTF-8 as charset, declared as ISO-8859-1", { charset: "utf-8", declared: "ISO-8859-1" }],
  ["UTF-8 as charset in quotes", { charset: '"UTF-8"', declared: "utf-8" }],
  ["UTF-8 declared as UTF-16, as .NET's StringWriter declares", { declared: "utf-16" }],
  ["the same with a charset", { charset: "utf-8", declared: "utf-16" }],
  [
    "UTF-8 by its byte order mark, whatever the charset says",
    { charset: "iso-8859-1", encode: (text) => Buffer.concat([utf8Mark, Buffer.from(text)]) },
  ],
  ["windows-1252 as declared", { declared: "windows-1252", encode: inWindows1252 }],
  ["windows-1252 by its charset alone", { charset: "windows-1252", encode: inWindows1252 }],
  [
    "windows-1252 by its charset, declared as UTF-8, which the bytes are not",
    { charset: "windows-1252", declared: "UTF-8", encode: inWindows1252 },
  ],
  ["windows-1252 declared as ISO-8859-1", { declared: "ISO-8859-1", encode: inWindows1252 }],
  [
    "UTF-16 by its charset and its first bytes",
    { charset: "utf-16", encode: (text) => Buffer.from(`\ufeff${text}`, "utf16le") },
  ],
])("%s is stored with its letters", async (_name, sent) => {
  const { receipt, stored } = await post(sent);
  expect(receipt).toMatchObject({ status: 10 });
  expect(stored).toBe(name);
});

test.each<[string, Sent]>([
  ["ISO-8859-1 as charset of what is UTF-8, as declared", { charset: "iso-8859-1", declared: "UTF-8" }],
  ["ISO-8859-1 as charset of what is UTF-8, without a declaration", { charset: "iso-8859-1" }],
  [
    "UTF-8 as charset of what is windows-1252, as declared",
    { charset: "utf-8", declared: "windows-1252", encode: inWindows1252 },
  ],
  ["an encoding that is not taken", { charset: "shift_jis" }],
  ["UTF-32", { encode: (text) => Buffer.from([0xff, 0xfe, 0, 0, ...Buffer.from(text)]) }],
])("%s is refused instead of stored with other letters", async (_name, sent) => {
  const { receipt, stored } = await post(sent);
  expect(receipt).toMatchObject({ status: 99, errors: [{ code: 957 }] });
  expect(stored).toBeUndefined();
});
