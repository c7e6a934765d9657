/**
 * Reads what was posted as JSON by a table of its members. A name that the table does not have is
 * refused, because a mistyped defect would make a token that is good.
 */

/** Why nothing was minted, as a sentence. */
export class MintFault {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

export type Member<Value> = {
  /** Completes the sentence "It takes …". */
  readonly takes: string;
  /** Nothing for a value that it does not take. */
  readonly read: (value: unknown) => Value | undefined;
};

export type Members<Options> = {
  readonly [Name in keyof Options]-?: Member<Exclude<Options[Name], undefined>>;
};

export function readMembers<Options extends object>(
  body: unknown,
  members: Members<Options>,
  required: readonly (keyof Options & string)[],
): Options | MintFault {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return new MintFault("The body must be a JSON object.");
  }
  const table = new Map<string, Member<unknown>>(Object.entries(members));
  const given = Object.entries(body).filter(([, value]) => value !== undefined && value !== null);
  const options = new Map<string, unknown>();
  for (const [name, value] of given) {
    const member = table.get(name);
    if (member === undefined) return refuseName(name, table);
    const read = member.read(value);
    if (read === undefined) return new MintFault(`"${name}" takes ${member.takes}.`);
    options.set(name, read);
  }
  const missing = required.find((name) => !options.has(name));
  if (missing !== undefined) {
    return new MintFault(`"${missing}" is missing; it takes ${members[missing].takes}.`);
  }
  // Every value was read by the table's row for its name.
  return Object.fromEntries(options) as Options;
}

function refuseName(name: string, table: ReadonlyMap<string, unknown>): MintFault {
  const known = [...table.keys()].join(", ");
  return new MintFault(`There is no ${JSON.stringify(name.slice(0, 40))}; there are ${known}.`);
}

export function text(form: RegExp, takes: string): Member<string> {
  return {
    takes,
    read: (value) => (typeof value === "string" && form.test(value) ? value : undefined),
  };
}

/** Written as a number or in digits. */
export function whole(from: number, to: number, takes: string): Member<number> {
  return {
    takes,
    read(value) {
      const number = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value;
      if (typeof number !== "number" || !Number.isSafeInteger(number)) return undefined;
      return number >= from && number <= to ? number : undefined;
    },
  };
}

export function oneOf<Choice extends string>(choices: readonly Choice[]): Member<Choice> {
  const quoted = choices.map((choice) => `"${choice}"`).join(", ");
  return {
    takes: choices.length === 1 ? quoted : `one of ${quoted}`,
    read: (value) => choices.find((choice) => choice === value),
  };
}
