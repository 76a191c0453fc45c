/** What can be done in the console, by name: what is asked, and what is told of it afterwards. */

export interface Act<Asked, Done> {
  readonly asked: Asked;
  readonly done: Done;
}

// biome-ignore lint/suspicious/noEmptyInterface: each page adds its acts here.
export interface ConsoleActs {}
