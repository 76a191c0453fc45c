import { expect, test } from "vitest";
import { signatureOf } from "./signature.ts";

const photo = { documentName: "p.jpg", documentType: "PHOTO" };
const byType = { documentName: "a.png", documentType: "SIGNATURE" };
const byCategory = { documentName: "b.png", documentCategory: "Customer signature" };
const byPerson = { documentName: "bol.pdf", docSignatories: [{ role: "CUSTOMER", signatoryName: "Ann" }] };
const byName = { documentName: "signature-1.png", documentType: 3 };

test.each([
  ["nothing", [], undefined],
  ["a photo", [photo], undefined],
  ["the last that says so by its type or category", [byType, byCategory, photo], byCategory],
  ["a type before a person's name", [byType, byPerson, byName], byType],
  ["a person's name before a file's name", [byPerson, byName], byPerson],
  ["a file's name when there is nothing else", [photo, byName], byName],
  ["no nameless signatory", [{ ...photo, docSignatories: [{ role: "X", signatoryName: " " }] }], undefined],
])("the signature is %s", (_, documents, expected) => {
  expect(signatureOf(documents)?.document).toBe(expected);
});

test("the signee is the first one with a name", () => {
  const docSignatories = [{ role: "DRIVER" }, { role: "CUSTOMER", signatoryName: "Ann" }];
  expect(signatureOf([{ ...byType, docSignatories }])).toMatchObject({
    signee: "Ann",
    signeeRole: "CUSTOMER",
  });
});
