/** What acts have done, by the key that stands in the address of the page they lead to (`?done=<key>`). */
export const doneWords = {
  signedOut: "You are signed out.",
  fileRetried:
    "The file is tried again: it is decided about within a second. Load the page again to see what came of it.",
  filesRetried:
    "The files are tried again: they are decided about within seconds. Load the page again to see what came of them.",
  passwordChanged: "Your password is changed.",
  userRoles: "The roles are changed.",
  userEnabled: "The user may sign in again.",
  userDisabled: "The user may not sign in any more.",
  userPassword: "The password is set.",
  userKeyAdded: "The key is added.",
  userKeyRemoved: "The key is removed.",
  userAdded: "The user is added.",
  banLifted: "The ban is lifted.",
  checkBegun: "The check has begun.",
  verificationBegun: "The verification has begun.",
};
