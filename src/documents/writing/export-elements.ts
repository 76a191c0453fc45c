/** The elements of a batch export: its head, which the document and the manifest have in common, and the list of files. */
import type { OutgoingKindName } from "./outgoing-kinds.ts";
import {
  type ListElement,
  listOf,
  type ObjectElement,
  requiredValues,
  values,
} from "../elements/stop-element.ts";

export const exportElement: ObjectElement<OutgoingKindName> = {
  shape: "object",
  name: "Export",
  about: "Which export this is, and what it holds.",
  isRequired: true,
  children: [
    ...requiredValues<OutgoingKindName>([
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
    ...requiredValues<OutgoingKindName>([
      ["CreatedAt", "window.createdAt", "utcDateTime", "When the window was closed."],
      ["CompletionCount", "count", "count", "How many completions there are; may be 0."],
    ]),
  ],
};

export const filesElement: ListElement<OutgoingKindName> = listOf(
  ["Files", "files", "Every file of the export but this one; missing when there is none."],
  {
    name: "File",
    about: "One file.",
    children: [
      ...requiredValues<OutgoingKindName>([["FileName", "name", "text", "Its name."]]),
      ...values<OutgoingKindName>([
        ["StopNbr", "stopNbr", "identifier", "The stop, when the file is of one stop."],
      ]),
      ...requiredValues<OutgoingKindName>([
        ["Bytes", "bytes", "count", "Its size."],
        ["Sha256", "sha256", "sha256", "SHA-256 of its bytes."],
      ]),
    ],
  },
);
