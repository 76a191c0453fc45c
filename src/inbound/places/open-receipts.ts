/** The receipts of files that are on their way to be filed: of several files with one receipt the last one's is written. */
export class OpenReceipts {
  readonly #open = new Map<string, { count: number; latestTurn: number }>();
  #turn = 0;

  /** A file was decided about. Returns its turn; without a key it has no receipt of its own. */
  begin(key: string | undefined): number {
    this.#turn += 1;
    if (key === undefined) return this.#turn;
    const count = (this.#open.get(key)?.count ?? 0) + 1;
    this.#open.set(key, { count, latestTurn: this.#turn });
    return this.#turn;
  }

  /** Whether no later file has the receipt. */
  isLatest(key: string | undefined, turn: number): key is string {
    return key !== undefined && this.#open.get(key)?.latestTurn === turn;
  }

  /** A file that was begun with the key is done. */
  end(key: string | undefined): void {
    if (key === undefined) return;
    const open = this.#open.get(key);
    if (open === undefined) return;
    open.count -= 1;
    if (open.count === 0) this.#open.delete(key);
  }
}
