/** Appointments as simply as they can be said: a list that is added up anew for each question. */

export interface Booking {
  readonly slot: string;
  readonly quantity: number;
  /** Undefined: a hold. */
  readonly order: string | undefined;
  readonly address: string | undefined;
  /** Of a hold. */
  readonly expiresAt: number;
}

export interface Limits {
  readonly appointments: number;
  readonly quantity: number;
}

export interface Request {
  readonly slot: string;
  readonly quantity: number;
  readonly order: string | undefined;
  readonly address: string | undefined;
}

export class AppointmentModel {
  bookings: readonly Booking[] = [];
  readonly #holdMs: number;

  constructor(holdMs: number) {
    this.#holdMs = holdMs;
  }

  /** What counts at this time. */
  live(now: number): readonly Booking[] {
    return this.bookings.filter(({ order, expiresAt }) => order !== undefined || expiresAt > now);
  }

  #fits(others: readonly Booking[], { slot, quantity }: Request, limits: Limits): boolean {
    const there = others.filter((one) => one.slot === slot);
    const sum = there.reduce((total, one) => total + one.quantity, 0);
    return there.length + 1 <= limits.appointments && sum + quantity <= limits.quantity;
  }

  /** Whether a listing for this quantity, and this order, shows the slot. */
  isListed(request: Request, limits: Limits, now: number): boolean {
    const others = this.live(now).filter(({ order }) => order === undefined || order !== request.order);
    return this.#fits(others, request, limits);
  }

  /** Books it, or says that there is no room and changes nothing. */
  reserve(request: Request, limits: Limits, now: number): boolean {
    const { slot, order, address } = request;
    const live = this.live(now);
    const isOwnHold = (one: Booking) =>
      one.order === undefined && one.slot === slot && address !== undefined && one.address === address;
    const isBookedThere = live.some((one) => one.order === order && one.slot === slot);
    const hold = order === undefined || isBookedThere ? undefined : live.find(isOwnHold);
    const others = live.filter((one) => one !== hold && (one.order === undefined || one.order !== order));
    if (!this.#fits(others, request, limits)) return false;
    this.bookings = [...others, { ...request, expiresAt: now + this.#holdMs }];
    return true;
  }

  /** Takes the appointment of an order away; says whether it had one. */
  cancel(order: string): boolean {
    const left = this.bookings.filter((one) => one.order !== order);
    const had = left.length < this.bookings.length;
    this.bookings = left;
    return had;
  }
}
