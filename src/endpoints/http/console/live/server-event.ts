/** Events of a server as `text/event-stream` has them. */

export interface ServerEvent {
  /** What it is called; the browser hears nothing of one without a name. */
  readonly event: string;
  /** Of any lines. */
  readonly data: string;
  /** Sent back by the browser as `Last-Event-ID` when it comes back. */
  readonly id?: string;
}

/** The lines of one event. */
export function eventText({ event, data, id }: ServerEvent): string {
  const head = id === undefined ? "" : `id: ${id}\n`;
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${head}event: ${event}\n${lines.join("")}\n`;
}

/** How long a browser waits before it comes back. */
export function retryText(ms: number): string {
  return `retry: ${ms}\n\n`;
}
