/** Orders, customers and users over HTTP on the real program: success, every refusal, every limit. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getStop, type HttpAsk, type HttpReply, http } from "../support/clients.ts";
import { company, lenient, Site, user } from "../support/daemon.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make({
    http: { maxEntries: 3, maxBodyBytes: 100_000 },
    security: lenient,
  });
  await site.mustRun("company", "add", "OTHER");
  await site.addUser("boss", ["MemberAdmin"]);
  await site.addUser("clerk", ["DI_Dispatcher"]);
  await site.addUser("viewer", ["DI_Inquiry"]);
  await site.start();
});
afterAll(() => site.end());

interface Reason {
  readonly reasonCode: number;
  readonly description: string;
}

/** The status and the reason codes of a refusal. */
function refusal(reply: HttpReply): number[] {
  const { Reasons } = JSON.parse(reply.body) as { Reasons: readonly Reason[] };
  return [reply.status, ...Reasons.map(({ reasonCode }) => reasonCode)];
}

function post(path: string, body: unknown, ask: HttpAsk = {}): Promise<HttpReply> {
  return http(site, path, { body: JSON.stringify(body), type: "application/json", ...ask });
}

const success = { status: 200, body: '{"status":"Success"}' };

interface Writing {
  readonly what: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly as: string;
}

const writings: readonly Writing[] = [
  {
    what: "an import of orders",
    path: `/v6/order/update/default/${company}`,
    body: { companyCode: company, orders: [{ orderNbr: "W1" }] },
    as: user,
  },
  {
    what: "deleting an order",
    path: `/v6/order/cancel/${company}`,
    body: { orderNbr: "W1", reasonCode: "R" },
    as: user,
  },
  {
    what: "an import of customers",
    path: `/v6/customer/update/${company}`,
    body: { companyCode: company, customers: [{ accountNumber: "W1" }] },
    as: user,
  },
  {
    what: "deleting a customer",
    path: `/v6/customer/delete/${company}`,
    body: { accountNumber: "W1" },
    as: user,
  },
  {
    what: "an import of users",
    path: `/v5/user/update/${company}`,
    body: { companyCode: company, users: [{ userName: "w1" }] },
    as: "boss",
  },
];

describe.each(writings)("$what", ({ path, body, as }) => {
  test("is for its company and its roles only", async () => {
    const wrong = await post(path, body, { userName: as, password: "wrong" });
    const elsewhere = await post(path.replace(company, "OTHER"), body, { userName: as });
    const viewer = await post(path, body, { userName: "viewer" });
    const swapped = await post(path, body, { userName: as === user ? "boss" : user });
    expect([wrong, elsewhere, viewer, swapped].map(refusal)).toEqual([
      [401, 930],
      [401, 930],
      [403, 932],
      [403, 932],
    ]);
  });

  test("takes JSON by POST and no query", async () => {
    const ask = { userName: as };
    const replies = [
      await http(site, path, { ...ask, body: "{", type: "application/json" }),
      await http(site, path, { ...ask, body: "{}", type: "text/plain" }),
      await http(site, path, { ...ask, method: "PUT" }),
      await post(`${path}?colour=red`, body, ask),
      await post(path, { ...body, filler: "x".repeat(100_001) }, ask),
      await post(path, [], ask),
      await post(path, { ...body, companyCode: "OTHER" }, ask),
    ];
    expect(replies.map(refusal)).toEqual([
      [400, 900],
      [415, 942],
      [405, 941],
      [400, 910],
      [413, 909],
      [400, 902],
      [400, 905],
    ]);
  });

  test("answers under v5 and v6, with a request id", async () => {
    for (const version of ["v5", "v6"]) {
      const reply = await post(path.replace(/^\/v\d/, `/${version}`), body, { userName: as });
      expect(reply.headers.get("x-request-id")).toBeTruthy();
      // Deleting finds nothing the second time: the operation has run all the same.
      expect([200, 404, 409]).toContain(reply.status);
    }
  });
});

describe.each(writings.filter(({ path }) => path.includes("/update/")))("$what", ({ path, body, as }) => {
  const list = Object.keys(body).find((name) => name !== "companyCode") ?? "";
  const sendList = (value: unknown) =>
    post(path, { companyCode: company, [list]: value }, { userName: as }).then(refusal);

  test("needs the company and a list that is neither empty nor too long", async () => {
    expect(await sendList(undefined)).toEqual([400, 903]);
    expect(await sendList([])).toEqual([400, 903]);
    expect(await sendList({})).toEqual([400, 902]);
    expect(await sendList([{}, {}, {}, {}])).toEqual([413, 909]);
    expect(await sendList([{}, 1])).toEqual([400, 901, 902]);
    const without = await post(path, { [list]: body[list] }, { userName: as });
    expect(refusal(without)).toEqual([400, 901]);
    const long = await post(path, { ...body, companyCode: "C".repeat(21) }, { userName: as });
    expect(refusal(long)).toEqual([400, 1401]);
  });
});

describe("orders", () => {
  const window = { schedule: { timeFrom: "2026-11-06T08:00:00", timeZone: "UTC" } };
  const importOrders = (...orders: unknown[]) =>
    post(`/v6/order/update/default/${company}`, { companyCode: company, orders });
  const cancel = (body: unknown) => post(`/v6/order/cancel/${company}`, body);
  const info = (orderNbr: string, ask?: HttpAsk) => http(site, `/v6/order/info/${orderNbr}/${company}`, ask);

  test("are imported with their stops, read back, deleted with them and imported anew", async () => {
    const order = { orderNbr: "E1", to: window, documents: [{ documentName: "a.pdf" }], colour: "red" };
    const document = { documentName: "a.pdf", documentData: "Y29udGVudA==" };
    expect(await importOrders({ ...order, documents: [document] })).toMatchObject(success);
    const reply = await info("E1");
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.body)).toMatchObject({ Order: [{ ...order, orderStatus: "10" }] });
    expect(reply.body).not.toContain("documentData");
    expect(await getStop(site, "E1")).toMatchObject({ stopStatus: "10" });

    expect(await cancel({ orderNbr: "E1", reasonCode: "R1", reasonComments: "gone" })).toMatchObject(success);
    expect(JSON.parse((await info("E1")).body)).toMatchObject({ Order: [{ orderStatus: "99" }] });
    const stop = await http(site, `/v5/stop/info/E1/${company}`);
    expect(JSON.parse(stop.body)).toMatchObject({
      Stop: {
        stopExecutionInfo: {
          stopStatus: "99",
          cancellation: { reasonCode: "R1", reasonDesc: "gone", cancelTimeZone: "UTC" },
        },
      },
    });
    expect(refusal(await cancel({ orderNbr: "E1", reasonCode: "R1" }))).toEqual([409, 963]);

    expect(await importOrders(order)).toMatchObject(success);
    expect(JSON.parse((await info("E1")).body)).toMatchObject({ Order: [{ orderStatus: "10" }] });
  });

  test("are imported as a whole or not at all", async () => {
    const reply = await importOrders({ orderNbr: "E2" }, { orderNbr: "E3", to: { address: { zip: 7 } } });
    expect(refusal(reply)).toEqual([400, 902]);
    expect(reply.body).toContain("orders[1].to.address.zip");
    expect(refusal(await info("E2"))).toEqual([404, 922]);
    expect(await getStop(site, "E2")).toBeUndefined();
  });

  test("survive a restart that nobody announced", async () => {
    expect(await importOrders({ orderNbr: "E4" })).toMatchObject(success);
    await site.kill();
    await site.start();
    expect(JSON.parse((await info("E4")).body)).toMatchObject({
      Order: [{ orderNbr: "E4", orderStatus: "05" }],
    });
  });

  test("whose service or number nobody knows are 908 and 922", async () => {
    const body = { companyCode: company, orders: [{ orderNbr: "E5" }] };
    expect(refusal(await post(`/v6/order/update/mine/${company}`, body))).toEqual([404, 908]);
    expect(refusal(await info("E5"))).toEqual([404, 922]);
    expect(refusal(await cancel({ orderNbr: "E5", reasonCode: "R" }))).toEqual([404, 922]);
    expect(refusal(await info("E5", { userName: "boss" }))).toEqual([403, 932]);
  });

  test("keep to the lengths of the interface", async () => {
    const [nbr, reason, comments] = ["N".repeat(20), "R".repeat(10), "c".repeat(500)];
    expect(await importOrders({ orderNbr: nbr })).toMatchObject(success);
    expect(refusal(await importOrders({ orderNbr: `${nbr}N` }))).toEqual([400, 1401]);
    expect(refusal(await cancel({ orderNbr: `${nbr}N`, reasonCode: reason }))).toEqual([400, 1401]);
    expect(refusal(await cancel({ orderNbr: nbr, reasonCode: `${reason}R` }))).toEqual([400, 1401]);
    const tooMuch = { orderNbr: nbr, reasonCode: reason, reasonComments: `${comments}c` };
    expect(refusal(await cancel(tooMuch))).toEqual([400, 1401]);
    expect(refusal(await cancel({ reasonCode: reason }))).toEqual([400, 901]);
    expect(refusal(await cancel({ orderNbr: nbr }))).toEqual([400, 901]);
    const whole = { orderNbr: nbr, reasonCode: reason, reasonComments: comments, companyCode: company };
    expect(await cancel(whole)).toMatchObject(success);
  });
});

describe("customers", () => {
  const importCustomers = (...customers: unknown[]) =>
    post(`/v6/customer/update/${company}`, { companyCode: company, customers });
  const remove = (body: unknown) => post(`/v6/customer/delete/${company}`, body);
  const info = (number: string, ask?: HttpAsk) => http(site, `/v6/customer/info/${number}/${company}`, ask);

  test("are imported, read back, deleted and imported again", async () => {
    const customer = { accountNumber: "A 1", name: "Müller", contracts: [{ contractCode: "K" }], vip: true };
    expect(await importCustomers(customer)).toMatchObject(success);
    const shown = { Customer: [{ ...customer, status: "ACTIVE" }] };
    expect(JSON.parse((await info("A%201")).body)).toEqual(shown);
    expect(await remove({ accountNumber: "A 1" })).toMatchObject(success);
    expect(refusal(await info("A%201"))).toEqual([404, 924]);
    expect(refusal(await remove({ accountNumber: "A 1" }))).toEqual([404, 924]);
    expect(await importCustomers(customer)).toMatchObject(success);
    expect(JSON.parse((await info("A%201")).body)).toEqual(shown);
  });

  test("are imported as a whole or not at all", async () => {
    const hours = { operatingHours: { timeFrom: "26:00:00" } };
    const reply = await importCustomers({ accountNumber: "A2" }, { accountNumber: "A3", addresses: [hours] });
    expect(refusal(reply)).toEqual([400, 904]);
    expect(reply.body).toContain("customers[1].addresses[0].operatingHours.timeFrom");
    expect(refusal(await info("A2"))).toEqual([404, 924]);
  });

  test("are read and deleted by who may, with a number", async () => {
    expect(refusal(await info("A2", { userName: "viewer" }))).toEqual([403, 932]);
    expect(refusal(await remove({}))).toEqual([400, 901]);
    expect(refusal(await remove({ accountNumber: 7 }))).toEqual([400, 902]);
    expect(refusal(await importCustomers({ accountNumber: "A4", name: "n".repeat(2_001) }))).toEqual([
      400, 1401,
    ]);
  });
});

describe("users", () => {
  const driver = [{ role: [{ role: "DI_Integration" }] }];
  const importUsers = (by: string, ...users: unknown[]) =>
    post(`/v5/user/update/${company}`, { companyCode: company, users }, { userName: by });
  /** Whether the user may ask for a stop: 404 when it may, as there is none. */
  const statusOf = async (userName: string, password: string) =>
    (await http(site, `/v5/stop/info/none/${company}`, { userName, password })).status;

  test("are created and sign in; a change of password, roles or enabled takes effect at once", async () => {
    const sam = { userName: "sam", password: site.password, userRoles: driver };
    expect(await importUsers("boss", sam)).toMatchObject(success);
    expect(await statusOf("sam", site.password)).toBe(404);
    const second = `${site.password}-2`;
    expect(await importUsers("clerk", { userName: "sam", password: second })).toMatchObject(success);
    expect([await statusOf("sam", site.password), await statusOf("sam", second)]).toEqual([401, 404]);
    await importUsers("clerk", { userName: "sam", enabled: false });
    expect(await statusOf("sam", second)).toBe(401);
    await importUsers("clerk", { userName: "sam", enabled: true, forcePwdChg: true });
    expect(await statusOf("sam", second)).toBe(401);
    await importUsers("clerk", { userName: "sam", forcePwdChg: false });
    expect(await statusOf("sam", second)).toBe(404);
    await importUsers("clerk", { userName: "sam", userRoles: [{ role: "DI_Inquiry" }] });
    expect(await statusOf("sam", second)).toBe(403);
  });

  test("are imported as a whole or not at all, and no password is told", async () => {
    const bad = { userName: "tom", password: "short-1" };
    const reply = await importUsers(
      "boss",
      { userName: "tim", password: site.password, userRoles: driver },
      bad,
    );
    expect(refusal(reply)).toEqual([400, 902]);
    expect(reply.body).toContain("users[1].password");
    expect(reply.body).not.toContain("short-1");
    expect(await statusOf("tim", site.password)).toBe(401);
    expect(refusal(await importUsers("boss", { userName: "a:b" }))).toEqual([400, 902]);
    expect(refusal(await importUsers("boss", { userName: "tim", userRoles: [{ role: "King" }] }))).toEqual([
      400, 902,
    ]);
    expect(refusal(await importUsers("boss", { userName: "tim", city: "c".repeat(2_001) }))).toEqual([
      400, 1401,
    ]);
  });

  test("are not made administrators, and administrators are not changed, by a dispatcher", async () => {
    const userRoles = [{ role: "MemberAdmin" }];
    const grant = await importUsers("clerk", { userName: "uma", userRoles });
    expect(refusal(grant)).toEqual([403, 932]);
    expect(grant.body).toContain("users[0].userRoles");
    expect(refusal(await importUsers("clerk", { userName: "boss", enabled: false }))).toEqual([403, 932]);
    expect(await importUsers("boss", { userName: "uma", userRoles })).toMatchObject(success);
  });

  test("of several companies keep their password, enabled and forcePwdChg", async () => {
    await site.addUser("both", ["DI_Integration"]);
    await site.mustRun("user", "add", "both", "--company", "OTHER", "--role", "DI_Inquiry");
    for (const change of [{ password: "taken over" }, { enabled: false }, { forcePwdChg: true }]) {
      const reply = await importUsers("boss", { userName: "both", ...change });
      expect(refusal(reply)).toEqual([403, 932]);
      expect(reply.body).toContain("operator");
    }
    expect(await statusOf("both", site.password)).toBe(404);
  });
});
