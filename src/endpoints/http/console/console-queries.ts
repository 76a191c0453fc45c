/** What pages ask the store, by name: what is asked and what is found. Both sides are plain data (they cross threads). */

export interface Query<Asked, Found> {
  readonly asked: Asked;
  readonly found: Found;
}

// biome-ignore lint/suspicious/noEmptyInterface: each page adds its queries here.
export interface ConsoleQueries {}
