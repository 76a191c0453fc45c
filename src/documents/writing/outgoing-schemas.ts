/** Generates the schemas of the documents that go out. Tests compare the committed files with these texts. */
import { exportElement, filesElement } from "./export-elements.ts";
import { createOutgoingTypes } from "./outgoing-style.ts";
import { completionElements } from "./stop-completion-elements.ts";
import { annotation, schemaText } from "../elements/xsd-types.ts";

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
  const head = writer.complexType(exportElement.typeName, exportElement.about, exportElement.children);
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
