/** What a command knows of the daemons that have its state. */
export interface RunningDaemons {
  /** That of the daemon of this machine; undefined when there is none. */
  readonly daemonPid: number | undefined;
  /** The nodes that are there, on any machine; undefined on SQLite, where there is one process. */
  readonly liveNodes?: readonly string[];
}

/** Whether anybody does what is asked for. */
export function areRunning({ daemonPid, liveNodes = [] }: RunningDaemons): boolean {
  return daemonPid !== undefined || liveNodes.length > 0;
}
