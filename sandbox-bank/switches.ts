/**
 * The whole-bank switches: what they are called, what they may be set to, and the one source of
 * random choices, which starts anew whenever a seed is set so that a run can be repeated.
 */
import { Random } from "./random.ts";

export type Switches = {
  readonly latencyMedianMs: number;
  readonly latencyP99Ms: number;
  readonly declineShare: number;
  readonly lostAnswerShare: number;
  readonly hostDown: boolean;
  readonly directoryDown: boolean;
  readonly refuseSignOn: boolean;
  readonly seed: number;
};

type Switch = { readonly takes: "milliseconds" | "share" | "flag" | "seed"; readonly what: string };

// biome-ignore format: a table
export const switchTable: { readonly [Name in keyof Switches]: Switch } = {
  latencyMedianMs: { takes: "milliseconds", what: "added to every answer; fixed unless the p99 is given too" },
  latencyP99Ms:    { takes: "milliseconds", what: "with the median: log-normal latency" },
  declineShare:    { takes: "share",        what: "charges answered 05 that would be approved" },
  lostAnswerShare: { takes: "share",        what: "approved charges, captures and returns that are booked and not answered" },
  hostDown:        { takes: "flag",         what: "the acquirer host stops listening, on both ports, and drops its connections" },
  directoryDown:   { takes: "flag",         what: "the directory server does not answer" },
  refuseSignOn:    { takes: "flag",         what: "sign-on is answered 91" },
  seed:            { takes: "seed",         what: "random choices start anew from here" },
};

const switchesOff: Switches = {
  latencyMedianMs: 0,
  latencyP99Ms: 0,
  declineShare: 0,
  lostAnswerShare: 0,
  hostDown: false,
  directoryDown: false,
  refuseSignOn: false,
  seed: 1,
};

/** Why a patch was refused, as a sentence. */
export class SwitchFault {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

export class Switchboard {
  current: Switches = switchesOff;
  random = new Random(switchesOff.seed);

  /** Sets the switches that the patch names, all or none. */
  set(patch: unknown): Switches | SwitchFault {
    const next = parsePatch(patch, this.current);
    if (next instanceof SwitchFault) return next;
    this.current = next.switches;
    if (next.seedNamed) this.random = new Random(next.switches.seed);
    return this.current;
  }

  /** How long the next answer is held back. */
  nextLatencyMs(): number {
    const { latencyMedianMs: median, latencyP99Ms: p99 } = this.current;
    if (median === 0 || p99 === 0) return median;
    // 2.3263 standard deviations above the mean lie the last hundredth of a normal distribution.
    const sigma = Math.log(p99 / median) / 2.3263;
    return median * Math.exp(sigma * this.random.nextNormal());
  }
}

/** A form says everything in text: each value is read as what its switch takes. */
export function readSwitchForm(form: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries([...form].map(([name, text]) => [name, readFormValue(name, text)]));
}

function readFormValue(name: string, text: string): unknown {
  if (!isSwitchName(name)) return text;
  if (switchTable[name].takes !== "flag") return text.trim() === "" ? text : Number(text);
  return text === "true" ? true : text === "false" ? false : text;
}

type Parsed = { readonly switches: Switches; readonly seedNamed: boolean };

function parsePatch(patch: unknown, current: Switches): Parsed | SwitchFault {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) {
    return new SwitchFault("Switches are set by a JSON object of names and values.");
  }
  for (const [name, value] of Object.entries(patch)) {
    if (!isSwitchName(name)) return new SwitchFault(`There is no switch called ${quote(name)}.`);
    const wanted = findFault(switchTable[name].takes, value);
    if (wanted !== undefined) return new SwitchFault(`The switch ${name} takes ${wanted}.`);
  }
  const switches: Switches = { ...current, ...patch };
  if (switches.latencyP99Ms !== 0 && switches.latencyP99Ms < switches.latencyMedianMs) {
    return new SwitchFault("The switch latencyP99Ms takes 0 or at least latencyMedianMs.");
  }
  return { switches, seedNamed: "seed" in patch };
}

function findFault(takes: Switch["takes"], value: unknown): string | undefined {
  if (takes === "flag") return typeof value === "boolean" ? undefined : "true or false";
  const number = typeof value === "number" ? value : Number.NaN;
  switch (takes) {
    case "milliseconds":
      return number >= 0 && number <= 600_000 ? undefined : "a number from 0 to 600000";
    case "share":
      return number >= 0 && number <= 1 ? undefined : "a number from 0 to 1";
    case "seed":
      return number >>> 0 === number ? undefined : "a whole number from 0 to 4294967295";
  }
}

function isSwitchName(name: string): name is keyof Switches {
  return Object.hasOwn(switchTable, name);
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 40));
}
