/**
 * What an appointment takes and what a window has (specification/appointments.md#capacity). Amounts are counted in
 * whole thousandths, so that what is given back is exactly what was taken, in whatever order.
 */
export const capacityNames = ["appointments", "quantity", "weight", "volume", "serviceMinutes"] as const;
export type CapacityName = (typeof capacityNames)[number];

/** The capacity of a window, in the units of the configuration; a measure without a value is not limited. */
export type Capacity = { readonly [name in CapacityName]?: number };

/** What appointments take of each, in thousandths. */
export type Share = { readonly [name in CapacityName]: number };

/** The largest amount that one request may name: sums of millions of these are still counted exactly. */
export const maxAmount = 1_000_000_000;

const thousandths = 1_000;

export const noShare: Share = { appointments: 0, quantity: 0, weight: 0, volume: 0, serviceMinutes: 0 };

/** One appointment, of which nothing else is known. */
export const oneAppointment: Share = { ...noShare, appointments: thousandths };

const amountForm = /^\+?(\d+(\.\d*)?|\.\d+)$/;

/**
 * The thousandths of an amount that came as text or number, rounded up; undefined when it is not an amount: negative,
 * over `maxAmount`, or no number.
 */
export function thousandthsOf(amount: unknown): number | undefined {
  const isText = typeof amount === "string" && amountForm.test(amount.trim());
  const value = isText || typeof amount === "number" ? Number(amount) : Number.NaN;
  if (!(value >= 0 && value <= maxAmount)) return undefined;
  // 1.005 times 1000 is a little less than 1005 to a double.
  return Math.ceil(Number((value * thousandths).toPrecision(15)));
}

function combine(left: Share, right: Share, sign: 1 | -1): Share {
  const sum = { ...left };
  for (const name of capacityNames) sum[name] = left[name] + sign * right[name];
  return sum;
}

export function addShares(left: Share, right: Share): Share {
  return combine(left, right, 1);
}

export function subtractShares(left: Share, right: Share): Share {
  return combine(left, right, -1);
}

/** What is missing for the share beside what is in use; empty when there is room. Each that is configured must hold. */
export function lackingFor(capacity: Capacity, used: Share, share: Share): readonly CapacityName[] {
  return capacityNames.filter((name) => {
    const limit = capacity[name];
    return limit !== undefined && used[name] + share[name] > limit * thousandths;
  });
}
