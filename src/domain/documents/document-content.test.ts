import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decodeBase64, documentGuid, readGuid, splitDocuments } from "./document-content.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("the GUID of a document", () => {
  const hash = sha256("content");

  it("is a version 8 UUID that follows from content and name", () => {
    const guid = documentGuid(hash, "a.pdf");
    expect(guid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(documentGuid(hash, "a.pdf")).toBe(guid);
    expect(readGuid(guid.toUpperCase())).toBe(guid);
  });

  it("is another one for another name, another content, and the same text cut elsewhere", () => {
    const guids = [
      documentGuid(hash, "a.pdf"),
      documentGuid(hash, "b.pdf"),
      documentGuid(hash, null),
      documentGuid(sha256("other"), "a.pdf"),
    ];
    expect(new Set(guids).size).toBe(guids.length);
  });

  it.each([
    "",
    "nothing",
    "../../etc/passwd",
    `${documentGuid(hash, null)}0`,
    documentGuid(hash, null).slice(1),
  ])("is not %j", (text) => {
    expect(readGuid(text)).toBeUndefined();
  });
});

describe("base64", () => {
  it("is decoded, with and without line breaks", () => {
    expect(decodeBase64("AAEC/w==")).toEqual(Buffer.from([0, 1, 2, 255]));
    expect(decodeBase64(" AA\r\nEC\t/w =\n= ")).toEqual(Buffer.from([0, 1, 2, 255]));
  });

  it.each(["A", "AAA", "AA=", "A===", "AA==AA==", "AA-_", "data:;base64,AAAA", "AA=A", "äääää"])(
    "is not %s",
    (text) => {
      expect(decodeBase64(text)).toBeUndefined();
    },
  );

  it("may be as long as a body", () => {
    const bytes = Buffer.alloc(15_000_000, 7);
    expect(decodeBase64(bytes.toString("base64"))?.length).toBe(bytes.length);
    expect(decodeBase64(`${bytes.toString("base64")}-AAA`)).toBeUndefined();
  });
});

describe("an entity with documents", () => {
  it("keeps everything but the content, under the reference of the content", () => {
    const stop = {
      stopNbr: "A1",
      documents: [
        {
          documentName: "bol.pdf",
          documentType: 7,
          documentData: base64("bill"),
          reference: "from the host",
        },
        { documentName: "elsewhere.pdf", reference: "kept" },
      ],
    };
    const { entity, contents, faults } = splitDocuments(stop, "stops[0]");
    const document = {
      guid: documentGuid(sha256("bill"), "bol.pdf"),
      sha256: sha256("bill"),
      size: 4,
      name: "bol.pdf",
    };
    expect(faults).toEqual([]);
    expect(contents).toEqual([{ document, bytes: Buffer.from("bill") }]);
    expect(entity).toEqual({
      stopNbr: "A1",
      documents: [
        { documentName: "bol.pdf", documentType: 7, reference: document.guid },
        { documentName: "elsewhere.pdf", reference: "kept" },
      ],
    });
    expect(stop.documents[0]?.documentData).toBe(base64("bill"));
  });

  it("without content comes back as it is", () => {
    for (const stop of [{}, { documents: [] }, { documents: [{ reference: "r" }] }])
      expect(splitDocuments(stop, "stop").entity).toBe(stop);
  });

  it("loses an empty content and keeps the reference that came", () => {
    const { entity, contents } = splitDocuments(
      { documents: [{ documentData: "", reference: "r" }] },
      "stop",
    );
    expect([entity, contents]).toEqual([{ documents: [{ reference: "r" }] }, []]);
  });

  it("is told each content that is no base64, with its path and without what it says", () => {
    const documents = [{ documentData: "AAAA" }, { documentData: "secret!" }, { documentData: "?" }];
    const { faults } = splitDocuments({ documents }, "stops[3]");
    expect(faults.map(({ code, path }) => [code, path])).toEqual([
      ["wrongType", "stops[3].documents[1].documentData"],
      ["wrongType", "stops[3].documents[2].documentData"],
    ]);
    expect(faults[0]?.message).not.toContain("secret");
  });
});
