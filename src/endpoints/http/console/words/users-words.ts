/** Words of the pages of users and companies. */
import type { Role } from "../../../../domain/users/role.ts";
import { counted } from "../../../../lib/counted.ts";

const rolesMean: Readonly<Record<Role, string>> = {
  MemberAdmin: "everything in its company: files, users and roles too; acts in this console",
  DI_Dispatcher: "plans stops and loads and adds users over HTTP; sees this console, changes nothing in it",
  DI_Driver: "reports the events and positions of its loads; no console",
  DI_Integration:
    "a host: sends files and imports, fetches what goes out; in this console the page for host developers",
  DI_Inquiry: "sees this console and asks over HTTP, changes nothing",
  DI_Receiver: "gives access to nothing",
};

export const usersWords = {
  rolesMean,
  title: "Users and companies",
  users: "Users",
  companies: "Companies",
  head: {
    user: "User",
    state: "May sign in",
    companies: "Companies and roles",
    signIn: "Signs in with",
    last: "Last seen",
  },
  companyHead: {
    code: "Company",
    name: "Name",
    members: "Users",
    administrators: "Administrators",
    since: "Since",
  },
  name: "Part of the name",
  company: "Company",
  allCompanies: "All that I administer",
  none: "No user fits.",
  enabled: "yes",
  disabled: "no",
  mustChange: "must set another password first",
  password: "password",
  keys: (count: number) => counted(count, "key"),
  nothingToSignIn: "nothing: cannot sign in",
  noAdministrator: "nobody",
  never: "never",
  lastSeenNote: "Last seen: the last sign-in by any way, as far as it is kept.",
  add: {
    title: "Add a user",
    explanation:
      "The user gets a password, which is shown once, unless a key is given. A user of the same name in another company is " +
      "somebody else.",
    userName: "User name",
    roles: "Roles",
    publicKey: "Public key, a line of an id_*.pub file; leave it empty for a password",
    opener: "Add a user",
    button: "Add the user",
  },
  addCompany: {
    title: "Add a company",
    explanation:
      "Its folders are made, and its users can be added then. A company is never removed, and its code stays as it is: folders " +
      "and addresses have it.",
    code: "Code",
    codeHint: "1 to 20 letters, digits, _ and -",
    name: "Name",
    button: "Add the company",
  },
  mustChangeLabel:
    "The user has to set another password at the next sign-in. Leave it out for hosts: they cannot, and are refused until " +
    "somebody does it here.",
  notThere: "There is no such user, or not in a company that you administer.",
  signInTitle: "Sign-in",
  facts: {
    state: "May sign in",
    password: "Password",
    hasPassword: "is set",
    noPassword: "is not set",
    created: "Added",
    others:
      "Belongs to other companies too: an operator changes password, keys and whether the user may sign in.",
  },
  memberships: "Companies and roles",
  noRoles: "Without a role the user leaves the company.",
  keysTitle: "Public keys",
  keyHead: { type: "Type", fingerprint: "Fingerprint", comment: "Comment", act: "To do" },
  noKeys: "The user has no key.",
  refused: {
    title: "Why it was not let in",
    head: {
      last: "Last time",
      address: "From",
      protocol: "Over",
      times: "Times",
      why: "Why, and what to do",
    },
    protocols: { http: "HTTP", sftp: "SFTP", ftp: "FTP" },
    none: "No sign-in of this user was refused since the start of the program.",
    note:
      "Since the start of the program, the last ten. Whoever signs in is told none of these reasons. While an address is " +
      "banned its sign-ins are not counted here.",
    banned: "the address is banned until",
    lift: "Lift the ban",
    askOperator: "An operator of this installation can lift the ban.",
    reasons: {
      unknownUser: { why: "There is no such user.", todo: "Check the name and the company." },
      wrongPassword: {
        why: "The password is wrong.",
        todo: "Let the sender check the password, or set a new one here.",
      },
      unknownKey: {
        why: "The client offered a key that the user does not have.",
        todo: "Nothing, when it signs in with another key or a password; else add its key here.",
      },
      disabled: {
        why: "The password is right, but the user is disabled.",
        todo: "Let it sign in again, here.",
      },
      mustChangePassword: {
        why: "The password is right, but has to be changed first.",
        todo: "People change it by signing in to this console; for a host set a new password without that.",
      },
      slowed: {
        why: "The password is being guessed from many addresses; one that has never signed in may try once a minute.",
        todo: "Try again in a minute, or sign in with a key.",
      },
      addressBanned: {
        why: "The address was banned while the password was being checked.",
        todo: "Wait until the ban ends, or have it lifted.",
      },
      tooManyWaiting: { why: "Too many sign-ins came at once.", todo: "Try again in some seconds." },
    },
  },
  signIns: "Seen from",
  signInHead: { address: "Address", last: "Last sign-in" },
  noSignIns: "Nobody has signed in as this user, as far as it is kept.",
  sessions: {
    title: "Sessions of the console",
    head: { time: "When", what: "What", address: "From", refused: "Refused before" },
    none: "This user has not signed in to the console, as far as the audit is kept.",
  },
  history: "What was done about this user",
  historyHead: { time: "When", who: "Who", what: "What", reason: "Why" },
  noHistory: "Nothing was done about this user in the console.",
  toAudit: "All in the audit",
  roles: {
    button: "Change the roles",
    explanation: (company: string) =>
      `The user has exactly the chosen roles in ${company}. It holds at once.`,
  },
  enable: { button: "Let sign in again", explanation: "The user may sign in again, by all ways." },
  disable: {
    button: "Disable",
    explanation: "The user may not sign in any more, by no way, and connections that are open end.",
  },
  setPassword: {
    button: "Set a new password",
    explanation:
      "A new password is made and shown once. The old one ends at once: hosts that still send it are refused, and their " +
      "addresses may be banned.",
  },
  addKey: {
    button: "Add a key",
    field: "Public key, a line of an id_*.pub file",
    explanation: "The user can sign in by SFTP with this key, beside those that are there.",
  },
  removeKey: {
    button: "Remove",
    explanation: (fingerprint: string) =>
      `${fingerprint} signs in no more, and the connections that it has opened end.`,
  },
  shown: {
    title: "The new password",
    once: "It is shown this once. Give it to the user by a way that nobody else reads.",
    of: (name: string) => `Password of ${name}`,
    back: "To the user",
  },
  agree: {
    company: (codes: string) => `Nobody could administer ${codes} in the console afterwards.`,
    operator: "No operator could sign in to the console afterwards.",
    oneself: "This is you: you lose what you need for this page.",
    label: "Do it all the same",
    again: "Give the reason again, and say that you mean it:",
  },
  bans: {
    title: "Banned addresses",
    explained: "Addresses from which sign-ins failed too often. A ban ends by itself, or here.",
    none: "No address is banned.",
    head: { address: "Address or network", until: "Until", count: "Bans lately", act: "To do" },
    lift: "Lift the ban",
    explanation: (address: string) =>
      `${address} may connect and sign in again at once. What it failed is forgotten.`,
  },
};
