/** What a stranger asks each route of the console for. */

type Fields = Readonly<Record<string, string>>;

const act = { reason: "reason", seenAt: "seenAt" };
const listed = [
  {},
  { company: "company" },
  { name: "fileName" },
  { name: "pattern" },
  { company: "companyId" },
  { user: "userName" },
];
const ofPath = [{}] as const;
const chosen = [{ of: "guid" }, { of: "guid", ...act }, { of: "delivered", ...act }];
const ofFilter = [{}, { company: "company" }, { stop: "stopNbr" }, { target: "target" }];
/** For operators: nobody else is told whether there is such a thing. */
const forOperators = [{}, { name: "address", ...act }];

/**
 * What each route of the console is asked besides its path: fields of its query or form, by the names of subjects. The path
 * alone (`{}`) will do where it names the subject; of a list it asks for all that the viewer may see.
 */
export const askedOfRoutes: Readonly<Record<string, readonly Fields[]>> = {
  "GET /console": ofPath,
  "GET /console/live": [{ after: "reference" }],
  "GET /console/live/page": ofPath,
  "GET /console/late": [{}, { company: "company" }],
  "GET /console/waiting": [{}, { company: "company" }, { files: "place" }, { deliveries: "place" }],
  "GET /console/find": [
    "fileName",
    "stopNbr",
    "loadNbr",
    "reference",
    "guid",
    "sha256",
    "userName",
    "target",
  ].map((q) => ({ q })),
  "GET /console/files": listed,
  "GET /console/files.csv": listed,
  "GET /console/files/{reference}": ofPath,
  "GET /console/files/{reference}/retry": ofPath,
  "POST /console/files/{reference}/retry": [act],
  "GET /console/files/retry": listed,
  "POST /console/files/retry": [{ of: "reference" }, { of: "reference", ...act }],
  "GET /console/stops/{companyCode}/{stopNbr}": ofPath,
  "GET /console/loads/{companyCode}/{loadNbr}": ofPath,
  "GET /console/hosts": [{ company: "company" }],
  "POST /console/hosts/trial": [{ company: "company", name: "appliedName", text: "appliedText" }],
  "GET /console/health": forOperators,
  "GET /console/health/again": forOperators,
  "POST /console/health/check": forOperators,
  "POST /console/health/verify": forOperators,
  "GET /console/users": [{}, { company: "company" }, { name: "userName" }],
  "GET /console/users/{userId}": ofPath,
  "POST /console/users/add": [{ company: "company", userName: "userName", role: "role", ...act }],
  "POST /console/companies/add": [{}, { code: "company", ...act }],
  "POST /console/users/bans/lift": forOperators,
  "POST /console/users/{userId}/roles": [{ company: "company", before: "before", role: "role", ...act }],
  "POST /console/users/{userId}/enable": [act],
  "POST /console/users/{userId}/disable": [act],
  "POST /console/users/{userId}/password": [act],
  "POST /console/users/{userId}/add-key": [{ publicKey: "key", ...act }],
  "POST /console/users/{userId}/remove-key": [{ fingerprint: "key", ...act }],
  "GET /console/audit": [{}, { user: "actor" }, { subject: "subject" }],
  "GET /console/audit.csv": [{}, { user: "actor" }, { subject: "subject" }],
  "GET /console/deliveries": ofFilter,
  "GET /console/deliveries/{guid}": ofPath,
  "GET /console/deliveries/act/retry": ofFilter,
  "POST /console/deliveries/act/retry": chosen,
  "GET /console/deliveries/act/resend": ofFilter,
  "POST /console/deliveries/act/resend": chosen,
  "GET /console/deliveries/act/give-up": ofFilter,
  "POST /console/deliveries/act/give-up": chosen,
  "GET /console/deliveries/act/release": forOperators,
  "POST /console/deliveries/act/release": forOperators,
  "GET /console/exports": [{}, { company: "company" }],
  "GET /console/exports/{company}/{name}/{number}/again": ofPath,
  "POST /console/exports/{company}/{name}/{number}/again": [act],
  "GET /console/remotes": ofPath,
  ...Object.fromEntries(
    [
      "targets retry",
      "targets pause",
      "targets resume",
      "remotes poll",
      "remotes pause",
      "remotes resume",
    ].flatMap((words) => {
      const [things, verb] = words.split(" ");
      const path = `/console/${things}/{company}/{name}/${verb}`;
      return [
        [`GET ${path}`, ofPath],
        [`POST ${path}`, [act]],
      ];
    }),
  ),
};
