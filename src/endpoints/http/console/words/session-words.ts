/** Words about signing in, the own password, and what somebody may not see. */
import type { ConsoleAccess } from "../console-user.ts";

const titles: Readonly<Record<number, string>> = {
  403: "Not allowed",
  404: "There is no such page",
  429: "Too many attempts",
  500: "Something went wrong",
  503: "Not at this moment",
};

const neededFor: Readonly<Record<ConsoleAccess, string>> = {
  signedIn: "Sign in to see this page.",
  look: "This page needs the role MemberAdmin, DI_Dispatcher or DI_Inquiry in a company. Ask your administrator.",
  act: "Only who has the role MemberAdmin in the company may do this. Ask your administrator.",
  integrate: "This page needs the role DI_Integration or MemberAdmin in a company. Ask your administrator.",
  administer:
    "This page needs the role MemberAdmin in a company, unless console.operators of the configuration names you. Ask your administrator.",
  operator:
    "This page shows what belongs to all companies: only users named in console.operators of the configuration see it.",
};

export const sessionWords = {
  signInTitle: "Sign in",
  userName: "User name",
  password: "Password",
  signIn: "Sign in",
  ended: "Your session has ended. Sign in again; you come back to the page where you were.",
  endedBeforeForm:
    "Your session had ended before you sent the form: nothing was done. Sign in again; you come back to the page, " +
    "where you can send it once more.",
  passwordTitle: "Password",
  mustChange: "Your password has to be changed before you go on.",
  currentPassword: "Current password",
  newPassword: "New password",
  newPasswordHint: (form: string) => `${form}. A sentence is easier to remember than signs.`,
  repeatedPassword: "New password again",
  changePassword: "Change the password",
  passwordExplained: "All other sessions of yours end with it.",
  differ: "The two new passwords differ: put in the same twice.",
  everywhereTitle: "Sessions",
  everywhereExplained: "Ends every session of yours, in this browser and all others.",
  everywhere: "Sign out everywhere",
  refusalTitle: (status: number) => titles[status] ?? "This cannot be done",
  needed: (access: ConsoleAccess) => neededFor[access],
  foreignForm: "The form was not sent by a page of this console. Open the page again and send it from there.",
  oldForm: "The form is not of your present session. Open the page again and send it from there.",
  requestId: "Number of this request, for whoever looks into the log:",
  toFirstPage: "To the first page",
};
