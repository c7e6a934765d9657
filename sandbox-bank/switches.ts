/**
 * The bank's switches: their names and values, and the one source of random choices, which starts
 * again whenever a seed is set, so that a run can be repeated.
 */
import { type Field, flag, number, readField, type ValueOf } from "./fields.ts";
import { BadRequest } from "./http.ts";

type Switch<Value> = { readonly off: Value; readonly takes: Field<Value>; readonly what: string };

const milliseconds = number(600_000);
const share = number(1);
const seed: Field<number> = {
  takes: "a whole number from 0 to 4294967295",
  read: (value) => (typeof value === "number" && value >>> 0 === value ? value : undefined),
};

// biome-ignore format: a table
export const switchTable = {
  latencyMedianMs: { off: 0,     takes: milliseconds, what: "added to every answer; fixed unless the p99 is given too" },
  latencyP99Ms:    { off: 0,     takes: milliseconds, what: "with the median: log-normal latency" },
  declineShare:    { off: 0,     takes: share,        what: "charges answered 05 that would be approved" },
  lostAnswerShare: { off: 0,     takes: share,        what: "approved charges, captures and returns that are booked and not answered" },
  hostDown:        { off: false, takes: flag,         what: "the acquirer host stops listening, on both ports, and drops its connections" },
  directoryDown:   { off: false, takes: flag,         what: "the directory server does not answer" },
  refuseSignOn:    { off: false, takes: flag,         what: "sign-on is answered 91" },
  seed:            { off: 1,     takes: seed,         what: "random choices start again from here" },
} satisfies Readonly<Record<string, Switch<number> | Switch<boolean>>>;

export type Switches = {
  readonly [Name in keyof typeof switchTable]: ValueOf<(typeof switchTable)[Name]["takes"]>;
};

// Every value was taken from the table's row of its name.
const switchesOff = Object.fromEntries(
  Object.entries(switchTable).map(([name, { off }]) => [name, off]),
) as Switches;

export class Switchboard {
  current: Switches = switchesOff;
  #random = new Random(switchesOff.seed);

  /** Sets the switches that the patch names, all or none. */
  set(patch: unknown): Switches | BadRequest {
    if (typeof patch !== "object" || patch === null || Array.isArray(patch)) {
      return new BadRequest("Switches are set by a JSON object of names and values.");
    }
    for (const [name, value] of Object.entries(patch)) {
      const field = findSwitch(name)?.takes;
      if (field === undefined) {
        return new BadRequest(`There is no switch called ${JSON.stringify(name.slice(0, 40))}.`);
      }
      const read = readField(`The switch ${name}`, field, value);
      if (read instanceof BadRequest) return read;
    }
    const switches: Switches = { ...this.current, ...patch };
    if (switches.latencyP99Ms !== 0 && switches.latencyP99Ms < switches.latencyMedianMs) {
      return new BadRequest("The switch latencyP99Ms takes 0 or at least latencyMedianMs.");
    }
    this.current = switches;
    if ("seed" in patch) this.#random = new Random(switches.seed);
    return switches;
  }

  /** By how much the next answer is delayed. */
  nextLatencyMs(): number {
    const { latencyMedianMs: median, latencyP99Ms: p99 } = this.current;
    if (median === 0 || p99 === 0) return median;
    // One hundredth of a normal distribution lies more than 2.3263 deviations above the mean.
    const sigma = Math.log(p99 / median) / 2.3263;
    return median * Math.exp(sigma * this.#random.nextNormal());
  }

  /** Decided for a charge that would be approved. */
  isDeclined(): boolean {
    return this.#isDrawn(this.current.declineShare);
  }

  /** Decided for an approval: it is booked, and the gateway gets no answer. */
  isAnswerLost(): boolean {
    return this.#isDrawn(this.current.lostAnswerShare);
  }

  #isDrawn(share: number): boolean {
    return share > 0 && this.#random.next() < share;
  }
}

/** A form holds text only: each value is converted to the kind of its switch. */
export function readSwitchForm(form: URLSearchParams): Record<string, unknown> {
  const values = [...form].map(([name, text]) => {
    const field = findSwitch(name)?.takes;
    if (field === flag) return [name, text === "true" || (text === "false" ? false : text)];
    return [name, field === undefined || text.trim() === "" ? text : Number(text)];
  });
  return Object.fromEntries(values);
}

function findSwitch(name: string): Switch<unknown> | undefined {
  return Object.entries(switchTable).find(([each]) => each === name)?.[1];
}

/** A small seeded generator (mulberry32): the same seed gives the same choices on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uniform, from 0 up to but not including 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Normal, with mean 0 and standard deviation 1 (Box and Muller). */
  nextNormal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }
}
