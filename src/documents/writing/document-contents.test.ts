import { completionFormat } from "../../domain/outbound/completion-format.ts";
import { expect, test } from "vitest";
import type { DocumentObject } from "../../domain/documents/document-object.ts";
import type { StopCompletion } from "../../domain/outbound/stop-completion.ts";
import { maxEmbeddedBytes } from "./document-contents.ts";
import { renderStopCompletion } from "./stop-completion-writer.ts";

const guid = (digit: number) => `6f1c2a90-3b7e-8d41-9c55-00000000000${digit}`;
const signature: DocumentObject = {
  documentName: "s.png",
  documentType: "SIGNATURE",
  reference: guid(1).toUpperCase(),
};
const photo: DocumentObject = { documentName: "p.jpg", reference: guid(2) };
const sent: DocumentObject = { documentName: "bol.pdf", reference: guid(3), documentData: "QUJD" };

const completion: StopCompletion = {
  format: completionFormat,
  stop: { stopNbr: "S1", documents: [sent] },
  stopStatus: "90",
  execution: {
    documents: [{ ...signature, docSignatories: [{ role: "CUSTOMER", signatoryName: "Ann" }] }, photo],
  },
  events: [
    { eventId: 7014, recordedAt: 0, documents: [signature, photo] },
    { eventId: 7014, recordedAt: 1, documents: [photo] },
  ],
  triggeredBy: 7009,
};

test("without a reader of documents there are references alone", async () => {
  const text = await renderStopCompletion(completion);
  expect(text).not.toContain("DocumentData");
  expect(text).toContain(`<Reference>${guid(3)}</Reference>`);
  expect(text).toContain("<Signee>Ann</Signee>");
  expect(text).toContain("<SigneeRole>CUSTOMER</SigneeRole>");
});

test("contents stand once each: the signature's with the signature, others with the event that brought them", async () => {
  const asked: string[] = [];
  const readDocument = async (one: string) => {
    asked.push(one);
    return Buffer.from(`content of ${one}`);
  };
  const text = await renderStopCompletion(completion, { readDocument });
  expect(asked).toEqual([guid(1), guid(2)]);
  const data = (one: string) => Buffer.from(`content of ${one}`).toString("base64");
  const [, inSignature = ""] = /<Signature>(.*?)<\/Signature>/s.exec(text) ?? [];
  const [first = "", second = ""] = text.split("<Event>").slice(1);
  expect(inSignature).toContain(`<DocumentData>${data(guid(1))}</DocumentData>`);
  expect(first).toContain(`<DocumentData>${data(guid(2))}</DocumentData>`);
  expect(first.match(/DocumentData>/g)).toHaveLength(2);
  expect(second).not.toContain("DocumentData");
});

test("what is not found, or is too large for most readers of XML, is left out, and the file is written", async () => {
  const readDocument = async (one: string) =>
    one === guid(1) ? undefined : new Uint8Array(maxEmbeddedBytes + 1);
  expect(await renderStopCompletion(completion, { readDocument })).toBe(
    await renderStopCompletion(completion),
  );
});

test("a view into a larger buffer gives its own bytes", async () => {
  const bytes = Buffer.from("--abc--").subarray(2, 5);
  const readDocument = async () => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  expect(await renderStopCompletion(completion, { readDocument })).toContain(
    "<DocumentData>YWJj</DocumentData>",
  );
});
