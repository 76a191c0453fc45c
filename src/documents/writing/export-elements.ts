/** The elements of a batch export: its head, which the document and the manifest have in common, and the list of files. */
import type { OutgoingKindName } from "./outgoing-kinds.ts";
import {
  type ListElement,
  type ObjectElement,
  type Row,
  type ValueElement,
  values,
} from "../elements/stop-element.ts";

function required(rows: readonly Row<OutgoingKindName>[]): ValueElement<OutgoingKindName>[] {
  return values(rows).map((element) => ({ ...element, isRequired: true }));
}

export const exportElement: ObjectElement<OutgoingKindName> = {
  shape: "object",
  name: "Export",
  typeName: "Export",
  about: "Which export this is, and what it holds.",
  isRequired: true,
  children: [
    ...required([
      ["CompanyCode", "companyCode", "text", "The company."],
      ["ExportName", "name", "text", "Name of the export in the configuration."],
      ["SequenceNbr", "sequenceNbr", "count", "Counts the exports of that name in the company, from 1."],
      [
        "AfterCompletion",
        "window.begin",
        "count",
        "How many completions the exports of that name had before: the LastCompletion of the one before.",
      ],
      ["LastCompletion", "window.end", "count", "How many they have had with this one."],
    ]),
    ...values<OutgoingKindName>([
      [
        "DueAt",
        "window.dueAt",
        "utcDateTime",
        "When it was due; missing for one that was asked for by hand.",
      ],
    ]),
    ...required([
      ["CreatedAt", "window.createdAt", "utcDateTime", "When the window was closed."],
      ["CompletionCount", "count", "count", "How many completions there are; may be 0."],
    ]),
  ],
};

export const filesElement: ListElement<OutgoingKindName> = {
  shape: "list",
  name: "Files",
  typeName: "Files",
  path: "files",
  about: "Every file of the export but this one; missing when there is none.",
  item: {
    name: "File",
    typeName: "File",
    about: "One file.",
    children: [
      ...required([["FileName", "name", "text", "Its name."]]),
      ...values<OutgoingKindName>([
        ["StopNbr", "stopNbr", "identifier", "The stop, when the file is of one stop."],
      ]),
      ...required([
        ["Bytes", "bytes", "count", "Its size."],
        ["Sha256", "sha256", "sha256", "SHA-256 of its bytes."],
      ]),
    ],
  },
};
