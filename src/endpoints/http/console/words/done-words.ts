/** What acts have done, by the key that stands in the address of the page they lead to (`?done=<key>`). */
export const doneWords = {
  signedOut: "You are signed out.",
  fileRetried:
    "The file is tried again: it is decided about within a second. Load the page again to see what came of it.",
  passwordChanged: "Your password is changed.",
};
