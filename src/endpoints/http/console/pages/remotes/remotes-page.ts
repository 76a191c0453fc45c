/** Page 8: the servers that files are fetched from, and the folders that are scanned, with what stays there. */
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { type ConsoleUser, companiesFor } from "../../console-user.ts";
import { sizeText } from "../../kit/amounts.ts";
import { badge } from "../../kit/badge.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { nothing, remedy, whoseMove } from "../../kit/notice.ts";
import { page } from "../../kit/page.ts";
import { details, facts, section } from "../../kit/section.ts";
import { prose, shortened, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { systemClock } from "../../../../../lib/clock.ts";
import { namedActRoutes, type NamedSubject } from "../acts/named-act.ts";
import { lookScope } from "../look-scope.ts";
import { foldersSection } from "./folders-section.ts";
import type { ShownRemote } from "./remotes-view.ts";

const said = words.remotes;

/** The place of a remote on the page, for addresses. */
export function remoteId(company: string, name: string): string {
  return `remote-${company}-${name}`.replaceAll(/[^\w-]/g, "-");
}

function standingBadge({ pause, isAsked, failures, polledAt }: ShownRemote): Html {
  if (pause !== undefined) return badge("off", said.paused);
  if (isAsked) return badge("wait", said.waiting);
  if (failures > 0) return badge("bad", said.failing);
  return polledAt === null ? badge("wait", said.fresh) : badge("ok", said.fine);
}

function standingOf(remote: ShownRemote): Content {
  const { pause, failures, restsUntil, faultText, remedy: todo, move, isAsked } = remote;
  const lines: Content[] = [standingBadge(remote)];
  if (pause !== undefined)
    lines.push(
      html`<p>${said.pausedBy(pause.by)}, ${timeText(pause.at)}: ${shortened(pause.reason, 200)}</p>`,
      remedy(said.resumeRemedy),
    );
  if (isAsked && pause === undefined) lines.push(html`<p>${said.asked}</p>`);
  if (failures > 0) {
    lines.push(html`<p>${said.failed(failures)}: ${shown(faultText ?? "")}</p>`);
    if (restsUntil !== null) lines.push(html`<p>${said.rests} ${timeText(restsUntil)}.</p>`);
    if (move !== undefined) lines.push(whoseMove(move));
    if (todo !== undefined) lines.push(remedy(todo));
  }
  return lines;
}

function factsOf(remote: ShownRemote): Html {
  return facts([
    [said.company, remote.company],
    [said.server, shown(remote.server)],
    [words.deliveries.targets.columns.standing, standingOf(remote)],
    [said.lastRound, timeText(remote.polledAt)],
    [said.lastSuccess, timeText(remote.succeededAt)],
    [
      said.next,
      remote.pause === undefined
        ? remote.nextAt === null
          ? said.nextUnknown
          : timeText(remote.nextAt)
        : undefined,
    ],
  ]);
}

function filesOf({ name, files, more }: ShownRemote): Html {
  const rows = files.map((file) => [
    shortened(file.name, 100),
    file.size === undefined ? words.kit.none : sizeText(file.size),
    html`<bdi class="foreign">${prose(file.why)}</bdi>`,
  ]);
  const head = [said.file, { text: said.size, isNumber: true }, said.why];
  const caption = said.filesCaption(name);
  const list = table(head, rows, { caption, empty: said.noFiles, isCaptionHidden: true });
  const rest = more === 0 ? undefined : html`<p>${said.more(more)}</p>`;
  return details(`${said.files}: ${files.length + more}`, [list, rest], files.length > 0);
}

function address(to: Addresses, { company, name }: ShownRemote, verb: string): string {
  return to.at(`/remotes/${encodeURIComponent(company)}/${encodeURIComponent(name)}/${verb}`);
}

/** All files that came by it. */
function fetchedLink({ company, name }: ShownRemote, to: Addresses): Html {
  return html`${link(to.at("/files", { company, channel: `remote:${name}` }), said.fetched)} `;
}

function actsOf(remote: ShownRemote, user: ConsoleUser, to: Addresses): Content {
  if (!companiesFor(user, "act").some(({ code: company }) => company === remote.company)) return undefined;
  const verbs = remote.pause === undefined ? (["poll", "pause"] as const) : (["resume"] as const);
  return verbs.map((verb) => html`${link(address(to, remote, verb), said[verb].label)} `);
}

async function showRemotes(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { user } = request;
  const to = addresses(services);
  const [{ remotes }, folders] = await Promise.all([
    services.ask("remotes", lookScope(user), {}),
    services.look("folders", user, {}),
  ]);
  return page(services, request, {
    ...{ title: said.title, here: "remotes" },
    content: [
      remotes.length === 0 ? section(said.remotes, nothing(said.noRemotes)) : undefined,
      remotes.map((remote) =>
        section(remote.name, [factsOf(remote), filesOf(remote)], {
          id: remoteId(remote.company, remote.name),
          tools: [fetchedLink(remote, to), actsOf(remote, user, to)],
        }),
      ),
      foldersSection(folders, systemClock.now()),
    ],
  });
}

export const remotesPage: ConsoleRoute = {
  ...{ access: "console", name: "consoleRemotes", method: "GET", path: "/console/remotes", who: "look" },
  run: showRemotes,
};

async function preview(
  services: ConsoleServices,
  { user }: ConsoleRequest,
  { company, name }: NamedSubject,
): Promise<Content | undefined> {
  const { remotes } = await services.ask("remotes", lookScope(user), {});
  const remote = remotes.find((one) => one.company === company.code && one.name === name);
  return remote === undefined ? undefined : factsOf(remote);
}

const verbs = {
  poll: { act: "remote.poll", done: "remotePolled" },
  pause: { act: "remote.pause", done: "remotePaused" },
  resume: { act: "remote.resume", done: "remoteResumed" },
} as const;

export const remoteActs: readonly ConsoleRoute[] = (["poll", "pause", "resume"] as const).flatMap((verb) =>
  namedActRoutes({
    ...{ routeName: `consoleRemote.${verb}`, path: `/console/remotes/{company}/{name}/${verb}` },
    ...{ here: "remotes", back: "/remotes", done: verbs[verb].done, preview, ...said[verb] },
    act: (services, { user }, { company, name, reason, seenAt }) =>
      services.act(verbs[verb].act, { user, companyId: company.id, reason }, { name, seenAt }),
  }),
);
