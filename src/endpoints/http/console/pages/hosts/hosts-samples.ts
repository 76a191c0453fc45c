/** Samples that can be copied: a document, and the commands that send it, with the viewer's own name and addresses. */
import { sampleStop } from "../../../server/sample-stop.ts";
import type { ConsoleServices } from "../../console-services.ts";
import type { ConsoleCompany, ConsoleUser } from "../../console-user.ts";
import { type Html, html } from "../../kit/html.ts";
import { link } from "../../kit/link.ts";
import { section } from "../../kit/section.ts";
import { listing } from "../../kit/shown-text.ts";
import { words } from "../../words/words.ts";
import type { HostServers } from "./hosts-view.ts";

const text = words.hosts;

const sampleName = "4711_20270105_080000.xml";

const sampleDocument = sampleStop({ stopNbr: "4711", day: "2027-01-06" });

function sampleImport(companyCode: string): string {
  return `{ "companyCode": ${JSON.stringify(companyCode)}, "stops": [{
  "stopNbr": "4712", "stopType": "DO",
  "to": { "address": { "name": "Corner Shop", "addr1": "12 Main Street",
    "city": "Springfield", "state": "IL", "country": "US" } }
}] }`;
}

/** A word of a command of a shell. */
function quoted(word: string): string {
  return /^[\w.@:/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Stands for the name of the server, which the script of the page knows from its address. */
const serverName = "SERVER";

interface Sample {
  readonly title: string;
  readonly command: string;
}

/** The whole company is the root of a user of one; a user of several sees a folder for each. */
function rootOf(user: ConsoleUser, company: ConsoleCompany): string {
  return user.companies.length > 1 ? `/${company.code}` : "";
}

function fileSamples(user: ConsoleUser, company: ConsoleCompany, servers: HostServers): readonly Sample[] {
  const { sftpPort, ftpPort, hasFtpTls } = servers;
  const root = rootOf(user, company);
  const login = quoted(`${user.userName}@${serverName}`);
  const receipt = `${root}/receipts/${sampleName.replace(/\.xml$/, ".receipt.xml")}`;
  const sftp = (command: string) => `echo ${quoted(command)} | sftp -P ${sftpPort} ${login}`;
  return [
    ...(sftpPort === undefined
      ? []
      : [
          { title: text.overSftp, command: sftp(`put ${sampleName} ${root}/inbound/`) },
          { title: text.receiptOverSftp, command: sftp(`get ${receipt}`) },
        ]),
    ...(ftpPort === undefined
      ? []
      : [
          {
            title: hasFtpTls ? text.overFtp : text.overPlainFtp,
            command: `curl ${hasFtpTls ? "--ssl-reqd " : ""}-u ${quoted(user.userName)} -T ${sampleName} ftp://${serverName}:${ftpPort}${root}/inbound/`,
          },
        ]),
  ];
}

function httpSamples(user: ConsoleUser, { code }: ConsoleCompany, { http }: HostServers): readonly Sample[] {
  const base = `${http.scheme}://${serverName}:${http.port}${http.basePath}`;
  const call = (type: string, path: string, data: string) =>
    `curl -u ${quoted(user.userName)} -H 'Content-Type: ${type}' \\\n  --data-binary ${data} \\\n  ${base}${path}`;
  return [
    {
      title: text.overHttp,
      command: call("application/xml", `/api/stop/${encodeURIComponent(code)}`, `@${sampleName}`),
    },
    {
      title: text.importOverHttp,
      command: call(
        "application/json",
        `/v6/stop/update/default/${encodeURIComponent(code)}`,
        quoted(sampleImport(code)),
      ),
    },
  ];
}

export function samplesSection(
  services: Pick<ConsoleServices, "basePath">,
  user: ConsoleUser,
  { company, servers }: { readonly company: ConsoleCompany; readonly servers: HostServers },
): Html {
  const files = fileSamples(user, company, servers);
  const samples = [...files, ...httpSamples(user, company, servers)];
  return section(
    text.samples,
    html`<p>${text.samplesIntro(user.userName, company.code)} <span class="unscripted">${text.noServerName}</span></p>
<h3>${text.sampleDocument}</h3><p>${text.sampleDocumentIntro(sampleName)}</p>${listing(sampleDocument, text.sampleDocument)}
${files.length === 0 ? html`<p>${text.noFileServers}</p>` : ""}${samples.map(
  ({ title, command }) =>
    html`<h3>${title}</h3><div data-server="${serverName}">${listing(command, title)}</div>`,
)}
<p>${link(`${services.basePath()}/docs`, text.apiPage)}</p>`,
    { id: "samples" },
  );
}
