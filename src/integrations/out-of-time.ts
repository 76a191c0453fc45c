/** The message when the time of a mapping is over. */
export function outOfTimeMessage(name: string, timeoutMs: number): string {
  return `the integration ${name} has not mapped the body in its time of ${timeoutMs} ms. Send it in smaller parts, or tell the operator.`;
}
