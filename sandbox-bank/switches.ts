/**
 * The sandbox bank's switches: their names and values, and the only source of random choices, which
 * starts again whenever a seed is set, so that a run can be repeated.
 */
import { type PaResShape, paResShapes } from "@tollgate/protocols/threeds102";
import {
  type Field,
  flag,
  number,
  oneOf,
  orNull,
  readField,
  text,
  type ValueOf,
  whole,
} from "./fields.ts";
import { BadRequest } from "./http.ts";

type Switch<Value> = { readonly off: Value; readonly takes: Field<Value>; readonly what: string };

type AnySwitch = Switch<number> | Switch<boolean> | Switch<number | null> | Switch<string | null>;

const milliseconds = number(600_000);
const share = number(1);
const seed: Field<number> = {
  takes: "a whole number from 0 to 4294967295",
  read: (value) => (typeof value === "number" && value >>> 0 === value ? value : undefined),
};

const code = orNull(text(/^[0-9A-Z]{2,3}$/, "a response code"));
const letter = orNull(text(/^[A-Z]$/, "a capital letter"));
const upToMillion = whole(0, 1_000_000, "a whole number from 0 to 1000000");
const macKey = "(retail|retail_80|cmac)-[48]:([0-9A-F]{32}|[0-9A-F]{48}|[0-9A-F]{64})";
const macKeys = text(
  new RegExp(`^${macKey}(,${macKey})?$`),
  "one or two test keys, like cmac-8:2B7E151628AED2A6ABF7158809CF4F3C",
);
const nextMacKey = text(new RegExp(`^${macKey}$`), "a test key, like those of macKeys");
const zoneKey = text(
  /^(tdes:([0-9A-F]{32}|[0-9A-F]{48})|aes:([0-9A-F]{32}|[0-9A-F]{48}|[0-9A-F]{64}))$/,
  "a test key, like tdes:0123456789ABCDEFFEDCBA9876543210",
);
const upToThousand = whole(0, 1_000, "a whole number from 0 to 1000");

/** The switches. Null means that the catalogue decides. */
// biome-ignore format: a table
export const switchTable = {
  latencyMedianMs: { off: 0,     takes: milliseconds, what: "added to every answer; fixed unless the p99 is given too" },
  latencyP99Ms:    { off: 0,     takes: milliseconds, what: "with the median: log-normal latency" },
  declineShare:    { off: 0,     takes: share,        what: "charges answered 05 that would be approved" },
  lostAnswerShare: { off: 0,     takes: share,        what: "approved charges, captures and returns that are booked and not answered" },
  hostDown:        { off: false, takes: flag,         what: "the acquirer host stops listening, on both ports, and drops its connections" },
  directoryDown:   { off: false, takes: flag,         what: "the directory server does not answer" },
  refuseSignOn:    { off: false, takes: flag,         what: "sign-on is answered 91" },
  reversalCode:    { off: null,  takes: code,         what: "answered to every reversal advice; null: as the catalogue says" },
  chargeCode:      { off: null,  takes: code,         what: "answered to every charge and payout; one answered 09, 68 or 94 is booked" },
  followUpCode:    { off: null,  takes: code,         what: "answered to every capture and return; one answered 09, 68 or 94 is booked" },
  repeatCode:      { off: null,  takes: code,         what: "answered to every repeated capture, return and payout, which the host then does not look at" },
  avsResult:       { off: null,  takes: letter,       what: "the issuer's letter for every address that a charge has" },
  cvvResult:       { off: null,  takes: letter,       what: "the issuer's letter for every CVV that a charge has; the charge is decided as ever" },
  clearedAfterS:   { off: null,  takes: orNull(number(1_000_000)), what: "a charge older than this is cleared: a reversal request is answered 12, a refund is not" },
  approveLate:     { off: false, takes: flag,         what: "charges are not answered; those that wait are approved and booked when it is turned off" },
  connectionsMax:  { off: null,  takes: orNull(upToThousand),       what: "further connections to a port of the host are closed" },
  demandCertificate: { off: false, takes: flag,       what: "TLS connections to the host need the client certificate host-client.pem" },
  answersElsewhere: { off: false, takes: flag,        what: "answers go over another connection to the same port of the host" },
  macKeys:         { off: null,  takes: orNull(macKeys), what: "test keys for message authentication, the first one writes; null: none is demanded" },
  zoneKey:         { off: null,  takes: orNull(zoneKey), what: "the test key under which keys for message authentication are delivered" },
  nextMacKey:      { off: null,  takes: orNull(nextMacKey), what: "the key to deliver next; once it is accepted it is the first of the macKeys" },
  deliversKeys:    { off: false, takes: flag,         what: "a key that a gateway asks for comes by a message of the host, not in the answer" },
  keyDefect:       { off: null,  takes: orNull(oneOf(["wrong"] as const)), what: "of delivered keys: the check value, or the code of the key block" },
  macDefect:       { off: null,  takes: orNull(oneOf(["wrong", "missing"] as const)), what: "of the message authentication codes in answers" },
  authenticationValue: { off: null, takes: orNull(oneOf(["visa", "mastercard"] as const)), what: "the shape of every authentication value and cryptogram" },
  paresShape:      { off: null,  takes: orNull(oneOf(paResShapes)), what: "how a PARes is canonicalised and written; null: each by turns" },
  settlementDefects: { off: 0,   takes: upToThousand, what: "lines of each settlement file that are falsified" },
  moreCardRanges:  { off: 0,     takes: upToMillion,  what: "further ranges of cards with 19 digits in the list of the directory server for 2.x" },
  seed:            { off: 1,     takes: seed,         what: "random choices start again from here" },
} satisfies Readonly<Record<string, AnySwitch>>;

export type Switches = {
  readonly [Name in keyof typeof switchTable]: ValueOf<(typeof switchTable)[Name]["takes"]>;
};

// Every value comes from the row of its name, so the type holds.
const switchesOff = Object.fromEntries(
  Object.entries(switchTable).map(([name, { off }]) => [name, off]),
) as Switches;

export class Switchboard {
  current: Switches = switchesOff;
  #random = new Random(switchesOff.seed);
  #paResCount = switchesOff.seed;

  /** Sets the switches that the patch names, all or none. */
  set(patch: unknown): Switches | BadRequest {
    if (typeof patch !== "object" || patch === null || Array.isArray(patch)) {
      return new BadRequest("Switches are set by a JSON object of names and values.");
    }
    const values: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(patch)) {
      const field = findSwitch(name)?.takes;
      if (field === undefined) {
        return new BadRequest(`There is no switch called ${JSON.stringify(name.slice(0, 40))}.`);
      }
      const read = readField(`The switch ${name}`, field, value);
      if (read instanceof BadRequest) return read;
      values[name] = read;
    }
    const switches: Switches = { ...this.current, ...values };
    if (switches.latencyP99Ms !== 0 && switches.latencyP99Ms < switches.latencyMedianMs) {
      return new BadRequest("The switch latencyP99Ms takes 0 or at least latencyMedianMs.");
    }
    this.current = switches;
    if ("seed" in patch) {
      this.#random = new Random(switches.seed);
      this.#paResCount = switches.seed;
    }
    return switches;
  }

  /** Returns the delay of the next answer. */
  nextLatencyMs(): number {
    const { latencyMedianMs: median, latencyP99Ms: p99 } = this.current;
    if (median === 0 || p99 === 0) return median;
    // One hundredth of a normal distribution lies more than 2.3263 deviations above the mean.
    const sigma = Math.log(p99 / median) / 2.3263;
    return median * Math.exp(sigma * this.#random.nextNormal());
  }

  /** Decides whether a charge that would be approved is declined. */
  isDeclined(): boolean {
    return this.#isDrawn(this.current.declineShare);
  }

  /** Decides whether an approval is booked without an answer to the gateway. */
  isAnswerLost(): boolean {
    return this.#isDrawn(this.current.lostAnswerShare);
  }

  /** Returns the forms in turn, beginning with that of the seed. */
  nextPaResShape(): PaResShape {
    this.#paResCount += 1;
    const turn = paResShapes[this.#paResCount % paResShapes.length] ?? "inclusive";
    return this.current.paresShape ?? turn;
  }

  #isDrawn(share: number): boolean {
    return share > 0 && this.#random.next() < share;
  }
}

/** Reads a form, which contains text only: each value is converted to the kind of its switch. */
export function readSwitchForm(form: URLSearchParams): Record<string, unknown> {
  const values = [...form].map(([name, entered]) => {
    const { off, takes } = findSwitch(name) ?? {};
    if (takes === flag)
      return [name, entered === "true" || (entered === "false" ? false : entered)];
    if (off === null) return [name, entered.trim() || null];
    return [name, takes === undefined || entered.trim() === "" ? entered : Number(entered)];
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

  /** Returns a uniform number from 0 up to but not including 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Returns a normal number with mean 0 and standard deviation 1 (Box and Muller). */
  nextNormal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }
}
