/** Who wants no customer messages, as the commands of an administrator see and change it. */
import { readAddress } from "../../domain/messages/message-address.ts";
import { messageChannels } from "../../domain/messages/message-event.ts";
import { systemClock } from "../../lib/clock.ts";
import { isoTime } from "../../lib/iso-time.ts";
import {
  addOptOut,
  listOptOuts as readOptOuts,
  removeOptOut,
} from "../../store/outbound/message-opt-outs.ts";
import { companyFilter, requireCompany } from "./admin.ts";
import { type StateConfig, withAdminStore } from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";

function readable(text: string): string {
  const found = messageChannels.map((channel) => readAddress(channel, text)).find((one) => one !== undefined);
  if (found !== undefined) return found;
  throw new WrongUseError(
    `${JSON.stringify(text)} is neither an e-mail address nor a telephone number: give one of them, a number as hosts send it`,
  );
}

export interface OptOutOptions {
  readonly address: string;
  /** Not needed when there is just one company. */
  readonly company?: string;
}

/** The address as it is stored; `isChanged` is false when it was so already. */
export type OptOutChange = Readonly<Awaited<ReturnType<typeof change>>>;

async function change(config: StateConfig, options: OptOutOptions, isWanted: boolean) {
  const address = readable(options.address);
  return await withAdminStore(config, async (store) => {
    const company = await requireCompany(store, options.company);
    if (company === undefined)
      throw new WrongUseError("there is no company yet: `dropgate company add` makes one");
    const { id: companyId, code } = company;
    const isChanged = await store.write(companyId, (tx) =>
      isWanted
        ? removeOptOut(tx, { companyId, address })
        : addOptOut(tx, { companyId, address, now: systemClock.now() }),
    );
    return { company: code, address, isChanged };
  });
}

/** Opts out: from now on nothing is sent to the address, messages that wait included. */
export function optOut(config: StateConfig, options: OptOutOptions): Promise<OptOutChange> {
  return change(config, options, false);
}

/** Messages may be sent to the address again. */
export function endOptOut(config: StateConfig, options: OptOutOptions): Promise<OptOutChange> {
  return change(config, options, true);
}

export type OptOutView = Awaited<ReturnType<typeof listOptOuts>>[number];

/** The addresses that want no messages, of all companies or of one; times are ISO, UTC. */
export async function listOptOuts(config: StateConfig, companyCode: string | undefined) {
  return await withAdminStore(config, async (store) => {
    const { companyId } = await companyFilter(store, companyCode);
    const rows = await readOptOuts(store.read, companyId);
    return rows.map(({ createdAt, ...row }) => ({ ...row, createdAt: isoTime(createdAt) }));
  });
}
