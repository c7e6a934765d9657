/**
 * Commands for the portal (decision 0063): a command's own description makes the form, and its own
 * work does it, as the user who is signed in. Nothing here knows what a command does. It is parsed
 * as a command line is, with every value behind its option's name or behind `--`.
 */
import { hash } from "node:crypto";
import { stat } from "node:fs/promises";
import type { Command, CommanderError } from "commander";
import { routeLinks } from "../storage/payment-links.ts";
import { isNumericId, type MerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { hasRight, type Right, type Role } from "../values/roles.ts";
import { workOf } from "./command.ts";
import { asTyped, settingsOf } from "./configuration-file.ts";
import { describeCommand, isFile, optionsOf } from "./desk-form.ts";
import { type Offer, type Owner, offers, sentOptions } from "./desk-offers.ts";
import { type Installation, readConfiguration } from "./installation.ts";
import { type Output, perform, rightsOf, rightsPathOf, tryOut } from "./perform.ts";
import { openWalletKeys } from "./wallet.ts";

export { offers } from "./desk-offers.ts";

export type DeskUser = {
  readonly role: Role;
  /** Absent for an operator. */
  readonly merchantId: MerchantId | undefined;
  readonly actor: { readonly who: string; readonly from: string };
};

export type DeskRequest = {
  /** Like `endpoint set`. */
  readonly name: string;
  readonly words: readonly string[];
  /** Without dashes; one without a value is a switch. */
  readonly options: readonly { readonly name: string; readonly value?: string | undefined }[];
  readonly input?: string | undefined;
  readonly reason?: string | undefined;
  /** Of the form that it was sent from: a button that is pressed twice does its work once. */
  readonly once?: string | undefined;
};

/** It is not theirs, or not for their role: neither tells that there is such a thing. */
export class NotOffered extends Problem {
  /** Which the user's role lacks. */
  readonly right: Right | undefined;

  constructor(sentence: string, right?: Right) {
    super(sentence);
    this.right = right;
  }
}

/** They wait here, and not on connections, which changes need. */
const trialsMax = 20;

/** With the options of the commands that the words may mean. */
type MakeProgram = (
  words: readonly string[],
  onExit: (error: CommanderError) => never,
) => Promise<Command>;

export function makeDesk(installation: Installation, makeProgram: MakeProgram) {
  const find = (name: string) => findCommand(makeProgram, name);
  let isBusy = false;
  const trials = makeTurns(trialsMax);
  return {
    ...{ describe, tryOut: tryRequest, run, settingsOf },
    isNotOffered: (problem: Problem) => problem instanceof NotOffered,
    lackingIn: (problem: Problem) => (problem instanceof NotOffered ? problem.right : undefined),
  };

  /** Nothing where the user may not give the command. */
  async function describe(name: string, user: DeskUser) {
    const found = await find(name);
    if (found === undefined || !mayGive(found, user)) return undefined;
    return describeCommand(name, found.command, found.offer);
  }

  /** What would be written to the audit, or why nothing would be done. */
  async function tryRequest(request: DeskRequest, user: DeskUser) {
    const read = await readRequest(request, user);
    if (read instanceof Problem) return read;
    if (read.offer.isLong || read.mode !== "change") return [];
    const tried = await trials(() => tryOut(read.place, read.performance));
    if (tried === "full") return new Problem("Many commands are being tried: try again.");
    return tried.output instanceof Problem ? tried.output : tried.entries.map(asTyped);
  }

  async function run(request: DeskRequest, user: DeskUser) {
    const read = await readRequest(request, user);
    if (read instanceof Problem) return read;
    const { offer, place, performance, findings } = read;
    if (offer.isLong && isBusy) return new Problem("Another of these runs: wait for its end.");
    isBusy ||= offer.isLong !== undefined;
    const begun = Promise.withResolvers<Output>();
    const report = (progress: string) => begun.resolve({ progress });
    const ended = perform(place, { ...performance, report }).finally(() => {
      if (offer.isLong) isBusy = false;
    });
    // How it ends is in the audit; a failure has ended it there too.
    if (offer.isLong === "hours") ended.then(begun.resolve, begun.reject);
    const output = await (offer.isLong === "hours" ? begun.promise : ended);
    return output instanceof Problem ? output : { output, hasFindings: findings.are() };
  }

  async function readRequest(request: DeskRequest, user: DeskUser) {
    const found = await find(request.name);
    if (found === undefined) return new NotOffered("There is no such command.");
    const given = await parse(found, request);
    if (given instanceof Problem) return given;
    const fault = await findPathFault(found.command, request);
    if (fault !== undefined) return fault;
    const [right, mode] = rightsOf(found.command, Object(given.at(-1)));
    if (!hasRight(user.role, right)) return new NotOffered(notAllowed(user.role, right), right);
    const place = { ...installation, actor: user.actor };
    if (user.merchantId !== undefined) {
      const owner = await owners[found.offer.owner](place, given);
      if (owner !== user.merchantId) return new NotOffered("There is no such thing here.");
    }
    const { work, command, offer } = found;
    const input = inputOf(request.input ?? "");
    const reason = request.reason;
    const findings = makeFindings();
    const refuse = async () => undefined;
    const report = () => undefined;
    const once = onceOf(request, user);
    const told = { input, reason, findings, refuse, report, once };
    const performance = { command, work, given, json: true, ...told };
    return { offer, mode, place, performance, findings };
  }
}

/** One after the other. */
function makeTurns(max: number) {
  let [count, latest]: [number, Promise<unknown>] = [0, Promise.resolve()];
  return async <Result>(work: () => Promise<Result>): Promise<Result | "full"> => {
    if (count >= max) return "full";
    count += 1;
    const turn = latest.then(work).finally(() => {
      count -= 1;
    });
    latest = turn.catch(() => undefined);
    return turn;
  };
}

/** Changed values are another request, and those of another user too. */
function onceOf({ once, name, words, options }: DeskRequest, { actor }: DeskUser) {
  return once && hash("sha256", JSON.stringify([actor.who, once, name, words, options]));
}

function notAllowed(role: Role, right: Right): string {
  return `The role ${role} does not have the right ${right}.`;
}

function makeFindings() {
  let found = false;
  return {
    tell() {
      found = true;
    },
    are: () => found,
  };
}

/** Standard input alone: a user of the portal names no files of the gateway. */
function inputOf(text: string) {
  return {
    async *open(file: string) {
      if (file !== "-") throw new Error("the portal names no files");
      yield Buffer.from(text);
    },
  };
}

type Found = {
  readonly command: Command;
  readonly work: NonNullable<ReturnType<typeof workOf>>;
  readonly offer: Offer;
};

/** Made anew each time: a command keeps what it has parsed. */
async function findCommand(makeProgram: MakeProgram, name: string): Promise<Found | undefined> {
  const words = name.split(" ");
  const program = await makeProgram([words[0] ?? ""], throwError);
  let command: Command | undefined = program;
  for (const word of words) command = command?.commands.find((each) => each.name() === word);
  const work = command && workOf(command);
  const offer = command && offers[rightsPathOf(command)];
  return command && work && offer && { command, work, offer };
}

function throwError(error: CommanderError): never {
  throw error;
}

function mayGive({ command, offer }: Found, { role, merchantId }: DeskUser): boolean {
  const isTheirs = merchantId === undefined || offer.owner !== "operator";
  const [right] = rightsOf(command);
  return isTheirs && hasRight(role, right);
}

/** As Commander gives them, or its complaint. */
async function parse(
  { command, offer }: Found,
  { name, words, options }: DeskRequest,
): Promise<readonly never[] | Problem> {
  const known = optionsOf(command);
  const stray = options.find((each) => !known.some(({ long }) => long === `--${each.name}`));
  if (stray !== undefined) return new Problem(`There is no option ${stray.name} here.`);
  const local = options.find(
    ({ name: given, value = "" }) =>
      sentOptions.some((each) => each === `--${given}`) && !/^(data:|none$)/.test(value),
  );
  if (local !== undefined) return new Problem(`${local.name} is a picture that you choose.`);
  const given = options.map((each) =>
    each.value === undefined ? `--${each.name}` : `--${each.name}=${each.value}`,
  );
  const rest = [...words];
  // A missing word ends the list: what is left out is left to the command.
  const all = command.registeredArguments.flatMap((argument) => {
    if (isFile(argument, offer)) return ["-"];
    return argument.variadic ? rest.splice(0) : rest.splice(0, 1);
  });
  let parsed: readonly never[] | undefined;
  command.configureOutput({ writeErr: () => undefined, outputError: () => undefined });
  command.action((...taken: unknown[]) => {
    // As the command has declared them: Commander has read the words by its usage.
    parsed = [...taken.slice(0, -2), command.opts()] as never[];
  });
  try {
    await rootOf(command).parseAsync([...name.split(" "), ...given, "--", ...all, ...rest], {
      from: "user",
    });
  } catch (error) {
    if (error instanceof Error && "code" in error) return new Problem(sentenceOf(error));
    throw error;
  }
  return parsed ?? new Problem("There is no such command.");
}

const fileBytesMax = 1_000_000;

/** Settings name files that every node has: none that reading would not end. */
async function findPathFault(
  command: Command,
  { options }: DeskRequest,
): Promise<Problem | undefined> {
  for (const { name, value = "none" } of options) {
    const option = command.options.find(({ long }) => long === `--${name}`);
    const isPath = option?.flags.includes("<file>") && !/^(none$|data:)/.test(value);
    const found = isPath ? await stat(value).catch(() => undefined) : undefined;
    const isGood = found?.isFile() === true && found.size <= fileBytesMax;
    if (isPath && !isGood) return new Problem(`${value} is no file that can be used here.`);
  }
  return undefined;
}

/** `error: required option '--amount <amount>' not specified`. */
function sentenceOf({ message }: Error): string {
  const text = message.replace(/^error: /, "").replace(/\.?$/, ".");
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

/** Whose subject it is; nothing where there is no such thing. */
type FindOwner = (
  place: Installation,
  given: readonly unknown[],
) => Promise<MerchantId | undefined>;

const owners: Readonly<Record<Owner, FindOwner>> = {
  operator: async () => undefined,
  async login(place, [login]) {
    const { merchants } = await readConfiguration(place);
    return merchants.find((each) => each.login === login)?.id;
  },
  async endpoint(place, given) {
    const { endpoints } = await readConfiguration(place);
    const wanted = String(Object(given.at(-1)).endpoint);
    return [...endpoints.values()].find(({ id }) => id === wanted)?.merchant.id;
  },
  async link({ cells }, [id]) {
    const link = isNumericId(String(id)) ? await routeLinks(cells).findById(String(id)) : undefined;
    return link?.merchantId;
  },
  async endpointWord(place, [id]) {
    const { endpoints } = await readConfiguration(place);
    return [...endpoints.values()].find((each) => each.id === id)?.merchant.id;
  },
  async walletKey(place, [id]) {
    const keys = await (await openWalletKeys(place)).list();
    return keys.find((each) => each.id === id)?.merchantId;
  },
};
