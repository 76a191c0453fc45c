/** What acts have done, by the key that stands in the address of the page they lead to (`?done=<key>`). */
export const doneWords = {
  signedOut: "You are signed out.",
  passwordChanged: "Your password is changed.",
};
