/** What people have given names to: users, companies, remotes and targets, by the beginning of the name. */
import { remoteSettingsOf } from "../../../config/company-settings.ts";
import { alertWayOf } from "../../../domain/alerts/audience.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type { FoundPlace, FoundUser } from "../../../endpoints/http/console/pages/find/find-view.ts";
import { listCompanies } from "../../../store/accounts/companies.ts";
import { listMembers } from "../../../store/accounts/members.ts";
import { findUserById } from "../../../store/accounts/users.ts";
import { listOutboundTargets } from "../../../store/outbound/outbound-targets.ts";
import type { QueryContext } from "../query-context.ts";

export interface NamesAsked {
  readonly text: string;
  /** So many of users, and so many of all else. */
  readonly limit: number;
}

/** A list, and whether there is more than is in it. */
interface Some<Found> {
  readonly found: readonly Found[];
  readonly isCut: boolean;
}

/** Without regard to the case of ASCII letters as an index has it: as it is, in small letters, and in capitals. */
function spellingsOf(text: string): readonly string[] {
  return [...new Set([text, text.toLowerCase(), text.toUpperCase()])];
}

/** Users of the companies of the scope, and the codes of those; an operator finds all. */
export async function findUsers(
  { read }: Pick<QueryContext, "read">,
  { companies, isOperator }: Scope,
  { text, limit }: NamesAsked,
): Promise<Some<FoundUser>> {
  const ids = companies.map(({ id }) => id);
  if (ids.length === 0 && !isOperator) return { found: [], isCut: false };
  const companyIds = isOperator ? undefined : ids;
  const asked = { companyIds, beginnings: spellingsOf(text), limit: limit + 1 };
  const rows = await listMembers(read, asked);
  const found: FoundUser[] = [];
  for (const { id } of rows.slice(0, limit)) {
    const record = await findUserById(read, id);
    if (record === undefined) continue;
    const { userName, isEnabled, memberships } = record;
    const known = memberships.filter(({ companyId }) => isOperator || ids.includes(companyId));
    found.push({
      ...{ userId: id, userName, isEnabled },
      companies: known.map(({ companyCode }) => companyCode),
    });
  }
  return { found, isCut: rows.length > limit };
}

async function companiesOf(
  { read }: Pick<QueryContext, "read">,
  seen: ReadonlySet<number>,
): Promise<readonly FoundPlace[]> {
  return (await listCompanies(read))
    .filter(({ id }) => seen.has(id))
    .map(({ code, profile }) => ({
      ...{ kind: "company", company: code, name: code, title: profile.name ?? null },
    }));
}

/** Companies of the scope, and the remotes and targets of these, whose names begin so; the shortest names first. */
export async function findPlaces(
  context: Pick<QueryContext, "read" | "config">,
  { companies }: Scope,
  { text, limit }: NamesAsked,
): Promise<Some<FoundPlace>> {
  const { read, config } = context;
  const codes = new Map(companies.map(({ id, code }) => [id, code]));
  const remotes = companies.flatMap(({ code: company }) =>
    [...remoteSettingsOf(config, company).keys()].map(
      (name) => ({ kind: "remote", company, name, title: null }) as const,
    ),
  );
  const targets = (await listOutboundTargets(read)).flatMap(({ companyId, name }): readonly FoundPlace[] => {
    const company = codes.get(companyId);
    const isOwn = company !== undefined && alertWayOf(name) === undefined;
    return isOwn ? [{ kind: "target", company, name, title: null }] : [];
  });
  const beginning = text.toLowerCase();
  const all = [...(await companiesOf(context, new Set(codes.keys()))), ...remotes, ...targets];
  const found = all
    .filter(({ name, title }) => [name, title ?? ""].some((one) => one.toLowerCase().startsWith(beginning)))
    .toSorted((one, other) => one.name.length - other.name.length);
  return { found: found.slice(0, limit), isCut: found.length > limit };
}
