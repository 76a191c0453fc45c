/** The forms of the pages of users: each asks for a reason, and what it did is told on the page that it leads to. */
import type { Answer } from "../../../server/answer.ts";
import { HttpRefusal } from "../../../server/http-refusal.ts";
import type { UserChanged } from "../../console-acts.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { html } from "../../kit/html.ts";
import { addresses, buttonLink } from "../../kit/link.ts";
import { notice } from "../../kit/notice.ts";
import { page } from "../../kit/page.ts";
import { section } from "../../kit/section.ts";
import { code } from "../../kit/shown-text.ts";
import { readReason } from "../../kit/reason.ts";
import { redirect } from "../../session/session-route.ts";
import { words } from "../../words/words.ts";
import { readSeenAt, tryAct } from "../acts/act-page.ts";
import { actingFor, administered, refusalIn } from "./user-parts.ts";
import { type UserFault, userPage } from "./user-page.ts";
import { usersPage } from "./users-page.ts";
import type { UserDetail } from "./users-view.ts";

const said = words.users;

interface Asked {
  readonly user: UserDetail;
  readonly companyCode: string | undefined;
  readonly by: Parameters<ConsoleServices["act"]>[1];
  readonly isAgreed: boolean;
}

/** What the act comes to: a change that may have to be agreed to, a password to be shown, or nothing more to tell. */
type Outcome = UserChanged | { readonly password: string } | undefined;

interface UserAct {
  /** As in the address of its form. */
  readonly act: string;
  readonly done: keyof typeof words.done;
  run(services: ConsoleServices, asked: Asked, form: URLSearchParams): Promise<Outcome>;
}

function lossText(loss: Extract<UserChanged, { kind: "toBeAgreed" }>): string {
  const parts = [
    ...(loss.companies.length > 0 ? [said.agree.company(loss.companies.join(", "))] : []),
    ...(loss.isLastOperator ? [said.agree.operator] : []),
    ...(loss.isOneself ? [said.agree.oneself] : []),
  ];
  return `${parts.join(" ")} ${said.agree.again}`;
}

/** Shown in the answer to the form itself, which browsers neither keep nor ask for again unasked. */
function passwordPage(
  services: ConsoleServices,
  request: ConsoleRequest,
  { userId, userName, password }: { userId: number; userName: string; password: string },
): Answer {
  const back = buttonLink(addresses(services).at(`/users/${userId}`), said.shown.back);
  const content = section(
    said.shown.of(userName),
    html`${notice("wait", html`<p>${said.shown.once}</p>`)}<p class="secret">${code(password)}</p><p>${back}</p>`,
  );
  return page(services, request, { title: said.shown.title, here: "users", content });
}

async function requireShownUser(services: ConsoleServices, request: ConsoleRequest): Promise<UserDetail> {
  const userId = Number(request.params["userId"]);
  const user = Number.isSafeInteger(userId)
    ? await services.ask("userDetail", administered(request.user), { userId })
    : undefined;
  if (user === undefined) throw new HttpRefusal("missing", said.notThere, { status: 404 });
  return user;
}

async function runUserAct(
  { act, done, run }: UserAct,
  services: ConsoleServices,
  request: ConsoleRequest,
): Promise<Answer> {
  const { form } = request;
  const user = await requireShownUser(services, request);
  const companyCode = form.get("company") ?? undefined;
  const fingerprint = form.get("fingerprint") ?? undefined;
  const { reason, fault } = readReason(form);
  const refuse = (message: string, canAgree = false): Promise<Answer> => {
    const whose = {
      companyCode: act === "roles" ? companyCode : undefined,
      fingerprint: act === "remove-key" ? fingerprint : undefined,
    };
    const told: UserFault = { act, ...whose, message, canAgree, reason };
    return userPage(services, request, told);
  };
  if (fault !== undefined) return await refuse(fault);
  const companyIds = user.memberships
    .filter((membership) => companyCode === undefined || membership.companyCode === companyCode)
    .map(({ companyId }) => companyId);
  const by = { user: request.user, companyId: actingFor(request.user, companyIds), reason };
  try {
    const asked = { user, companyCode, by, isAgreed: form.get("agreed") === "yes" };
    const outcome = await run(services, asked, form);
    if (outcome === undefined) return redirect(services, `/console/users/${user.userId}?done=${done}`);
    if ("password" in outcome) return passwordPage(services, request, { ...user, ...outcome });
    if (outcome.kind === "toBeAgreed") return await refuse(lossText(outcome), true);
    return redirect(services, `/console/users/${user.userId}?done=${done}`);
  } catch (error) {
    return await refuse(refusalIn(error));
  }
}

const userActs: readonly UserAct[] = [
  {
    act: "roles",
    done: "userRoles",
    async run(services, { user, companyCode, by, isAgreed }, form) {
      const membership = user.memberships.find((one) => one.companyCode === companyCode);
      if (membership === undefined) throw new HttpRefusal("missing", said.notThere, { status: 404 });
      const before = (form.get("before") ?? "").split(" ").filter((role) => role !== "");
      const { companyId } = membership;
      const roles = form.getAll("role");
      return await services.act("user.roles", by, {
        userId: user.userId,
        companyId,
        roles,
        before,
        isAgreed,
      });
    },
  },
  {
    act: "enable",
    done: "userEnabled",
    run: (services, { user, by, isAgreed }) =>
      services.act("user.enable", by, { userId: user.userId, isAgreed }),
  },
  {
    act: "disable",
    done: "userDisabled",
    run: (services, { user, by, isAgreed }) =>
      services.act("user.disable", by, { userId: user.userId, isAgreed }),
  },
  {
    act: "password",
    done: "userPassword",
    run: (services, { user, by, isAgreed }, form) =>
      services.act("user.password", by, {
        ...{ userId: user.userId, isAgreed },
        mustChange: form.get("mustChange") === "yes",
      }),
  },
  {
    act: "add-key",
    done: "userKeyAdded",
    run: (services, { user, by, isAgreed }, form) =>
      services.act("user.addKey", by, {
        ...{ userId: user.userId, isAgreed },
        publicKey: (form.get("publicKey") ?? "").trim(),
      }),
  },
  {
    act: "remove-key",
    done: "userKeyRemoved",
    run: (services, { user, by, isAgreed }, form) =>
      services.act("user.removeKey", by, {
        ...{ userId: user.userId, isAgreed },
        fingerprint: form.get("fingerprint") ?? "",
      }),
  },
];

async function addUser(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { form, user } = request;
  const refuse = (message: string) => usersPage(services, request, { add: { message, form } });
  const { reason, fault } = readReason(form);
  if (fault !== undefined) return await refuse(fault);
  const code = form.get("company");
  const scope = administered(user);
  const asked = { name: undefined, companyCode: code ?? undefined, behind: undefined, limit: 1 };
  const company = (await services.ask("users", scope, asked)).companies.find((one) => one.code === code);
  if (company === undefined) throw new HttpRefusal("missing", said.notThere, { status: 404 });
  const userName = (form.get("userName") ?? "").trim();
  const publicKey = (form.get("publicKey") ?? "").trim() || undefined;
  const by = { user, companyId: actingFor(user, [company.id]), reason };
  try {
    const added = await services.act("user.add", by, {
      ...{ companyId: company.id, userName, publicKey, roles: form.getAll("role") },
      mustChange: form.get("mustChange") === "yes",
    });
    const { userId, password } = added;
    if (password !== undefined) return passwordPage(services, request, { userId, userName, password });
    return redirect(services, `/console/users/${userId}?done=userAdded`);
  } catch (error) {
    return await refuse(refusalIn(error));
  }
}

async function liftBan(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { form, user } = request;
  const name = form.get("name") ?? "";
  const { reason, fault } = readReason(form);
  if (fault !== undefined) return await usersPage(services, request, { ban: { name, reason, fault } });
  const by = { user, companyId: undefined, reason };
  const tried = await tryAct(() => services.act("ban.lift", by, { name, seenAt: readSeenAt(form) }));
  if (tried.kind === "done") return redirect(services, "/console/users?done=banLifted#bans");
  const refusal = tried.kind === "changed" ? tried.why : words.acts.notThere;
  return await usersPage(services, request, { ban: { name, reason, refusal } });
}

const posted = { access: "console", method: "POST", who: "administer" } as const;

export const userActRoutes: readonly ConsoleRoute[] = [
  { ...posted, name: "consoleAddUser", path: "/console/users/add", run: addUser },
  { ...posted, who: "operator", name: "consoleLiftBan", path: "/console/users/bans/lift", run: liftBan },
  ...userActs.map(
    (act): ConsoleRoute => ({
      ...posted,
      name: `consoleUser-${act.act}`,
      path: `/console/users/{userId}/${act.act}`,
      run: (services, request) => runUserAct(act, services, request),
    }),
  ),
];
