/** Generates the schemas of the documents that go out. Tests compare the committed files with these texts. */
import { exportElement, filesElement } from "../../src/documents/writing/export-elements.ts";
import {
  isTextKind,
  type OutgoingKindName,
  plainKindOf,
} from "../../src/documents/writing/outgoing-kinds.ts";
import { maximumOf } from "../../src/documents/writing/outgoing-style.ts";
import { completionElements } from "../../src/documents/writing/stop-completion-elements.ts";
import type { ValueElement } from "../../src/documents/elements/stop-element.ts";
import {
  annotation,
  schemaText,
  simpleTypeText,
  type ValuePlace,
  XsdTypeWriter,
  type XsdTypes,
} from "../../src/documents/elements/xsd-types.ts";

function textType(types: XsdTypes, maximum: number, mayBeEmpty: boolean): string {
  const name = mayBeEmpty ? `TextOrNone${maximum}` : `Text${maximum}`;
  const least = mayBeEmpty ? 0 : 1;
  const facets = [`<xs:minLength value="${least}"/>`, `<xs:maxLength value="${maximum}"/>`];
  types.set(
    name,
    simpleTypeText({ name, about: `${least} to ${maximum} characters.`, base: "xs:string", facets }),
  );
  return name;
}

function simpleType(types: XsdTypes, element: ValueElement<OutgoingKindName>, place: ValuePlace): string {
  if (isTextKind(element.kind)) return textType(types, maximumOf(element), place === "content");
  const { typeName, ...kind } = plainKindOf(element.kind);
  types.set(typeName, simpleTypeText({ name: typeName, ...kind }));
  return typeName;
}

/** The generator of the types of one schema: elements come in the order of the table. */
function createOutgoingTypes(): XsdTypeWriter<OutgoingKindName> {
  return new XsdTypeWriter<OutgoingKindName>({
    order: "sequence",
    isNillable: false,
    leastItems: 1,
    simpleType,
    attributeType: (types, attribute) => textType(types, maximumOf(attribute), false),
    wordsOf: ({ about }) => about,
  });
}

const reading =
  "Elements come in the order given here; what has no value is left out. Later versions may add elements: read by name, and pass over what you do not know.";

const completionRoots = `  <xs:element name="StopCompletion" type="StopCompletion">${annotation("One stop that was completed or closed, with what was executed.")}</xs:element>
  <xs:element name="StopCompletions">
    ${annotation("A batch export in one document.")}
    <xs:complexType>
      <xs:sequence>
        <xs:element name="Export" type="Export">${annotation(exportElement.about)}</xs:element>
        <xs:element name="StopCompletion" type="StopCompletion" minOccurs="0" maxOccurs="unbounded">${annotation("As in a file of its own; CompletionCount of them, in the order of their completion.")}</xs:element>
      </xs:sequence>
    </xs:complexType>
  </xs:element>`;

/** The text of `xsd/stop-completion.xsd`. */
export function writeCompletionXsd(): string {
  const writer = createOutgoingTypes();
  const about = "A stop as the host sent it last, and what was executed.";
  const completion = writer.complexType("StopCompletion", about, completionElements);
  const head = writer.complexType(exportElement.name, exportElement.about, exportElement.children);
  return schemaText(
    `Completion file, no namespace. Root is StopCompletion, or StopCompletions in a batch export. ${reading} Date-times are local; their zone stands beside them.`,
    "src/documents/writing/stop-completion-elements.ts",
    [completionRoots, completion, head, ...writer.types.values()],
  );
}

/** The text of `xsd/export-manifest.xsd`. */
export function writeManifestXsd(): string {
  const writer = createOutgoingTypes();
  const about = "What a batch export consists of. It is written last: when it is there, every file of it is.";
  const manifest = writer.complexType("ExportManifest", about, [exportElement, filesElement]);
  const root = `  <xs:element name="ExportManifest" type="ExportManifest">${annotation("The manifest of one batch export.")}</xs:element>`;
  return schemaText(
    `Manifest of a batch export, no namespace. Root is ExportManifest. ${reading}`,
    "src/documents/writing/export-elements.ts",
    [root, manifest, ...writer.types.values()],
  );
}
