/**
 * The acquirer's host, written from the specification and independent of the gateway's reading of
 * it. It books what it accepts, even under a known reference, and keeps its own books. The seed
 * chooses its behaviour: it refuses, answers late, twice, unreadably or not at all, answers 09 or
 * 68 to what it carries out or not, and refuses reversals for a while.
 */
import {
  DecodeFault,
  decode,
  encode,
  FrameFault,
  FrameReader,
  frame,
  type IsoFields,
  type IsoMessage,
  iso87Ascii,
  iso87Bitmapped,
  responseMti,
  type Specification,
} from "@tollgate/protocols/iso8583";
import { readSettings } from "./configuration.ts";
import type { Network, VirtualSocket } from "./network.ts";
import { startOfTime } from "./platform.ts";
import type { Random } from "./random.ts";
import { SimulatedProcess, type VirtualTime } from "./virtual-time.ts";

export type Booking = {
  readonly reference: string;
  readonly trace: string;
  readonly kind: "sale" | "authorisation" | "payout";
  readonly bookedAt: number;
  readonly amount: number;
  readonly port: number;
  captured: number;
  returned: number;
  isReversed: boolean;
  /** The time at which the host last said that it has reversed the charge. */
  reversedAt: number;
  /**
   * The process that its approval reached first. `isOnLine` says whether it came over the
   * connection of the charge.
   */
  heard?: { readonly by: SimulatedProcess; readonly at: number; readonly isOnLine: boolean };
  /**
   * For a charge that the host has refused or denied before: the processes that received the
   * approval.
   */
  readonly toldLate?: Told;
};

type Options = {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: Network;
  readonly manners: Manners;
  /** The difference of its ports from those of the first host. */
  readonly portOffset: number;
  /** Called with every message that arrives, before the host acts on it. */
  readonly onMessage: (message: IsoMessage) => void;
  /**
   * Called when the host says that the charge does not stand, because it has reversed it or does
   * not know it.
   */
  readonly onReversed: (reference: string) => void;
  readonly onBooked: (booking: Booking) => void;
  readonly tell: (sentence: string, reference: string) => void;
};

/** The shares of answers that go wrong. */
export type Manners = {
  unruly: number;
  refusesReversals: boolean;
  refusesRepeats: boolean;
  /** Whether it approves what it has refused or denied before. */
  isFickle: boolean;
  isSilent: boolean;
  /** Whether it answers over any connection to the same port, even of another node. */
  answersAnywhere: boolean;
};

export const goodManners: Manners = {
  unruly: 0,
  refusesReversals: false,
  refusesRepeats: false,
  isFickle: false,
  isSilent: false,
  answersAnywhere: false,
};

export type Host = ReturnType<typeof makeHost>;

/** Two ports with different behaviour. Only the second one answers inquiries (0600). */
const listening = [
  { port: 8583, specification: iso87Ascii },
  { port: 8584, specification: iso87Bitmapped },
] as const;
const framing = "binary-2";
const echoed = [3, 4, 7, 11, 32, 37, 41, 42, 49, 70];
/** The host carries a charge out within this time: the gateway's timeout for answers is longer. */
const queueMaxMs = 9_000;
const { answerTimeoutMs, echoAfterMs } = readSettings();
/** The time after which the host closes a silent connection. A live node sends echoes. */
const silenceMs = 2 * echoAfterMs;

export function makeHost(options: Options) {
  const { time, random, network, manners, portOffset, onMessage, onBooked, tell } = options;
  const process = new SimulatedProcess("host");
  const books: Booking[] = [];
  /** The amounts of follow-ups, each carried out once, by type, trace number and reference. */
  const done = new Map<string, number>();
  /** Follow-ups that the host refuses, and refuses again when they are repeated. */
  const forbidden = new Set<string>();
  /** Charges that the host books when it is asked to reverse them, by reference. */
  const waiting = new Map<string, { readonly message: IsoMessage; readonly line: Line }>();
  /** References of charges that it has denied to an inquiry or a reversal, or to an operator. */
  const [denied, deniedToOperators] = [new Set<string>(), new Set<string>()];
  const [sockets, ports] = [new Set<VirtualSocket>(), new WeakMap<IsoMessage, number>()];
  let approvals = 100_000;
  for (const { port, specification } of listening) {
    const accepting = (socket: VirtualSocket) => accept(socket, specification);
    network.listen(port + portOffset, { owner: process, accept: accepting });
  }
  return { process, amountDone };

  /**
   * Returns for an operator how much of a charge stands, or of a follow-up was carried out; 0 if
   * none.
   */
  function amountDone(reference: string, trace: string, kind: string): number | undefined {
    const standing = books.filter((each) => each.reference === reference && !each.isReversed);
    const isCharge = kind === "sale" || kind === "preauth" || kind === "account-verification";
    if (kind === "payout") return standing[0]?.amount;
    if (isCharge && standing.length === 0) {
      deniedToOperators.add(reference);
      return undefined;
    }
    if (isCharge) return standing.reduce((sum, { amount }) => sum + amount, 0);
    return done.get(`${kind === "capture" ? "022" : "040"} ${trace} ${reference}`);
  }

  function accept(socket: VirtualSocket, specification: Specification): void {
    const reader = new FrameReader(framing, { payloadBytesMax: 8_192 });
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.closeWhenSilent(silenceMs);
    socket.on("data", (chunk: Buffer) => {
      const read = reader.push(chunk);
      for (const payload of read instanceof FrameFault ? read.framesBefore : read) {
        const message = decode(specification, payload);
        if (!(message instanceof DecodeFault)) receive(message, { socket, specification });
      }
    });
  }

  function receive(message: IsoMessage, line: Line): void {
    const { mti } = message;
    if (mti === "0800") {
      answer(line, message, { 39: "00" });
      return;
    }
    ports.set(message, (line.socket.port ?? 0) - portOffset);
    onMessage(message);
    if (manners.isSilent) tell(`the host ignores ${mti}`, message.fields[37] ?? "");
    else if (message.fields[3]?.startsWith("26")) receivePayout(message, line);
    else if (mti === "0200" || mti === "0100") receiveCharge(message, line);
    else if (mti === "0600") receiveInquiry(message, line);
    else if (mti === "0420" || mti === "0421") receiveReversal(message, line);
    else receiveFollowUp(message, line);
  }

  function receiveCharge(message: IsoMessage, line: Line): void {
    const isUnruly = random.chance(manners.unruly);
    const isFickle = manners.isFickle && random.chance(0.6);
    const manner = random.pick(isFickle ? fickle : isUnruly ? unruly : usual);
    const laterMs = manner === "queue" ? random.between(0, queueMaxMs) : random.skewed(5, 2_000);
    time.after(laterMs, process, () => {
      if (wasDenied(message)) {
        bookLate(message, line, 0);
        return;
      }
      tell(`the host meets ${message.mti} with: ${manner}`, message.fields[37] ?? "");
      carryOut(manner, message, (fields, afterMs) => answer(line, message, fields, afterMs));
      if (manner === "garble") garble(line, message);
      if (manner === "approve and hang up") line.socket.destroy();
      if (manner === "refuse, then approve") bookLate(message, line, random.between(10, 60_000));
      if (manner === "wait for the reversal")
        waiting.set(message.fields[37] ?? "", { message, line });
    });
  }

  /**
   * Pays out. It recognises a payout that it has booked by its reference, also when the repeat has
   * overtaken it, and answers with the approval again.
   */
  function receivePayout(message: IsoMessage, line: Line): void {
    const manner = random.pick(random.chance(manners.unruly) ? unrulyPayouts : usualPayouts);
    const laterMs = manner === "queue" ? random.between(0, queueMaxMs) : random.skewed(5, 2_000);
    const { 37: reference = "" } = message.fields;
    const isRefused = message.mti === "0201" && manners.refusesRepeats && random.chance(0.6);
    time.after(laterMs, process, () => {
      tell(`the host meets the payout ${message.mti} with: ${manner}`, reference);
      if (isRefused) return answer(line, message, { 39: random.pick(["96", "12", "30"]) });
      const isKnown = books.some((each) => each.reference === reference);
      const pay = () => (isKnown ? { 38: String(approvals), 39: "00" } : book(message));
      if (manner === "lose") return;
      if (manner === "refuse" && !isKnown) {
        return answer(line, message, { 39: random.pick(["05", "57", "61"]) });
      }
      const fields = manner === "say 09" && !isKnown ? {} : pay();
      if (manner === "approve without a word") return;
      if (manner === "approve and hang up") return line.socket.destroy();
      if (manner === "garble") return garble(line, message);
      const isOpen = manner === "say 09" || manner === "do it and say 09";
      answer(line, message, isOpen ? { 39: random.pick(["09", "68", "91", "94", "96"]) } : fields);
    });
  }

  /**
   * Whether it has said that it knows no such charge. While the answer to the charge may still
   * arrive, a node believes that of no host.
   */
  function wasDenied({ fields }: IsoMessage): boolean {
    const { 37: reference = "", 7: sent = "" } = fields;
    const [month = 0, ...rest] = (sent.match(/../g) ?? []).map(Number);
    const ageMs = startOfTime + time.now() - Date.UTC(2026, month - 1, ...rest);
    const isFresh = ageMs > -1_000 && ageMs < answerTimeoutMs - 1_000;
    return deniedToOperators.has(reference) || (denied.has(reference) && !isFresh);
  }

  function carryOut(manner: Manner, message: IsoMessage, reply: Reply): void {
    const half = Math.floor(Number(message.fields[4]) / 2);
    const again = random.between(10, 60_000);
    const undecided = { 39: random.pick(["09", "68", "94"]) };
    // biome-ignore format: a table
    const ways: Record<Manner, () => void> = {
      "approve":                () => reply(book(message)),
      "queue":                  () => reply(book(message)),
      "refuse":                 () => reply({ 39: random.pick(refusals) }),
      "refuse, then approve":   () => reply({ 39: random.pick(refusals) }),
      "wait for the reversal":  () => undefined,
      "approve a half":         () => { const fields = { ...book(message, half), 39: "10", 4: String(half).padStart(12, "0") }; if (random.chance(0.7)) reply(fields); },
      "approve twice":          () => { const fields = book(message); reply(fields); reply(fields, again); },
      "approve late":           () => reply(book(message), 20_000 + 3 * again),
      "approve without a word": () => void book(message),
      "approve and hang up":    () => void book(message),
      "garble":                 () => void book(message),
      "lose":                   () => undefined,
      "do it and say 09":       () => { book(message); reply(undecided); },
      "say 09":                 () => reply(undecided),
      "say 09, then approve":   () => { reply(undecided); reply(book(message), again); },
    };
    ways[manner]();
  }

  /** Books a charge after all, and sends the approval until a node has received it. */
  function bookLate(message: IsoMessage, line: Line, afterMs: number): void {
    time.after(afterMs, process, () => {
      const toldLate: Told = new Set();
      const { 37: reference = "", 4: amount } = message.fields;
      const approval = book(message, Number(amount), toldLate);
      tell("the host approves after all", reference);
      tellLate(reference, write(line, message, approval), line, toldLate);
    });
  }

  function tellLate(reference: string, payload: Buffer, line: Line, told: Told): void {
    if (told.size > 0) return;
    const socket = line.socket.isOpen ? line.socket : otherConnection(line);
    const owner = socket?.peer?.owner;
    socket?.write(frame(framing, payload), () => {
      if (owner !== undefined) told.add(owner);
      hear(reference, owner, false);
    });
    time.after(30_000, process, () => tellLate(reference, payload, line, told));
  }

  function book(
    message: IsoMessage,
    amount = Number(message.fields[4]),
    toldLate?: Told,
  ): IsoFields {
    const { mti, fields } = message;
    const isPayout = fields[3]?.startsWith("26") === true;
    const kind = isPayout ? "payout" : mti === "0200" ? "sale" : "authorisation";
    const own = { reference: fields[37] ?? "", trace: fields[11] ?? "", kind, amount } as const;
    const captured = kind === "sale" ? amount : 0;
    const kept = { captured, returned: 0, isReversed: false, reversedAt: 0, bookedAt: time.now() };
    const port = ports.get(message) ?? 0;
    const booking: Booking = { ...own, ...kept, port, ...(toldLate && { toldLate }) };
    books.push(booking);
    onBooked(booking);
    approvals += 1;
    return { 38: String(approvals), 39: "00" };
  }

  function receiveReversal(message: IsoMessage, line: Line): void {
    const { 37: reference = "" } = message.fields;
    const charges = books.filter((each) => each.reference === reference && isFound(each));
    const isRefused = manners.refusesReversals && random.chance(0.7);
    const refusal = isRefused ? random.pick(["12", "96", "06", "40"]) : undefined;
    const code = refusal ?? (charges.length === 0 ? "25" : "00");
    const [isLost, isUnanswered] = [
      random.chance(manners.unruly / 3),
      random.chance(manners.unruly / 3),
    ];
    tell(`the host ${isLost ? "loses" : `answers ${code} to`} ${message.mti}`, reference);
    if (isLost) return;
    if (code === "00" || code === "25") options.onReversed(reference);
    for (const charge of code === "00" ? charges : []) charge.isReversed = true;
    for (const charge of books) {
      if (charge.reference === reference && charge.isReversed) charge.reversedAt = time.now();
    }
    const crossingMs = code === "25" ? deny(reference) : undefined;
    if (!isUnanswered) answer(line, message, { 39: code }, crossingMs);
  }

  /** Whether the charge is found: a charge approved after a denial is not in all books at once. */
  function isFound({ toldLate, bookedAt }: Booking): boolean {
    const isNew = toldLate !== undefined && time.now() < bookedAt + 5_000;
    return !isNew || random.chance(0.5);
  }

  /** Denies a charge, which the host may book later. Returns when its denial is sent. */
  function deny(reference: string): number | undefined {
    denied.add(reference);
    const charge = waiting.get(reference);
    if (charge === undefined || random.chance(0.5)) return undefined;
    waiting.delete(reference);
    const afterMs = random.chance(0.5) ? random.skewed(0, 500) : random.between(0, 60_000);
    bookLate(charge.message, charge.line, afterMs);
    return random.skewed(0, 5_000);
  }

  /**
   * Answers an inquiry. Field 90 names its subject by type and trace number: a charge or a
   * follow-up.
   */
  function receiveInquiry(message: IsoMessage, line: Line): void {
    const { 37: reference = "", 90: original = "" } = message.fields;
    const [type, trace] = [original.slice(0, 4), original.slice(4, 10)];
    const isCharge = type === "0200" || type === "0100";
    const charge = books.find((each) => each.reference === reference && !each.isReversed);
    const known = isCharge
      ? charge && { 4: String(charge.amount).padStart(12, "0"), 49: "840" }
      : done.has(`${type.slice(0, 3)} ${trace} ${reference}`) && {};
    tell(
      `the host is asked about ${type} and ${known ? "knows it" : "does not know it"}`,
      reference,
    );
    const crossingMs = !known && isCharge ? deny(reference) : undefined;
    if (random.chance(manners.unruly / 3)) return;
    const fields = known ? { ...known, 38: String(approvals), 39: "00" } : { 39: "25" };
    answer(line, message, fields, crossingMs);
  }

  /** Carries out a capture (0220) or a return (0400) once, including repeats. */
  function receiveFollowUp(message: IsoMessage, line: Line): void {
    const { 37: reference = "", 11: trace = "" } = message.fields;
    const key = `${message.mti.slice(0, 3)} ${trace} ${reference}`;
    const [isLost, isUnanswered] = [
      random.chance(manners.unruly / 3),
      random.chance(manners.unruly / 3),
    ];
    const isRepeat = message.mti.endsWith("1");
    const isRefused = manners.refusesRepeats && random.chance(0.6);
    const isFaulty = random.chance(manners.unruly / 4) || (isRepeat && isRefused);
    if (isLost) tell(`the host loses ${message.mti}`, reference);
    if (isLost) return;
    const fault = isRepeat ? random.pick(["96", "12", "30"]) : "96";
    const code = isFaulty ? fault : done.has(key) ? "00" : followUp(message, key);
    tell(`the host answers ${code} to ${message.mti}`, reference);
    if (isUnanswered || (isRefused && !isRepeat)) return;
    answer(line, message, { 39: code, ...(code === "00" && { 38: String(approvals) }) });
  }

  function followUp({ mti, fields }: IsoMessage, key: string): string {
    const { 37: reference, 4: amount = "0", 95: replacement = "" } = fields;
    const charge = books.find((each) => each.reference === reference && !each.isReversed);
    if (charge === undefined) return "25";
    // The host refuses some follow-ups at random.
    if (random.chance(0.04)) forbidden.add(key);
    if (forbidden.has(key)) return "57";
    if (mti.startsWith("022")) {
      if (charge.captured + Number(amount) > charge.amount) return "13";
      charge.captured += Number(amount);
      done.set(key, Number(amount));
      return "00";
    }
    const left = Number(replacement.slice(0, 12));
    const given = Number(amount) - left;
    const standing = (charge.captured || charge.amount) - charge.returned;
    if (Number(amount) !== standing || given <= 0) return "13";
    charge.returned += given;
    done.set(key, given);
    return "00";
  }

  function answer(
    line: Line,
    request: IsoMessage,
    more: IsoFields,
    afterMs = random.skewed(0, 50),
  ): void {
    if (random.chance(manners.unruly / 10)) return;
    time.after(afterMs, process, () => {
      const isOnLine = line.socket.isOpen || random.chance(0.5);
      const isAnywhere = manners.answersAnywhere && request.mti !== "0800";
      const socket = isOnLine && !isAnywhere ? line.socket : otherConnection(line);
      socket?.write(frame(framing, write(line, request, more)), () => {
        if (/^[01]0$/.test(more[39] ?? "") && /^0[12]00$/.test(request.mti)) {
          hear(request.fields[37] ?? "", socket.peer?.owner, socket === line.socket);
        }
      });
    });
  }

  /** Returns another connection of any node. */
  function otherConnection({ socket: { port } }: Line): VirtualSocket | undefined {
    const open = [...sockets].filter((socket) => socket.port === port);
    return open.length === 0 ? undefined : random.pick(open);
  }

  function hear(reference: string, by: SimulatedProcess | undefined, isOnLine: boolean): void {
    const charge = books.findLast((each) => each.reference === reference);
    if (by !== undefined && charge !== undefined) charge.heard ??= { by, at: time.now(), isOnLine };
  }

  /** Sends an approval that cannot be read. */
  function garble(line: Line, request: IsoMessage): void {
    const bytes = Buffer.from(write(line, request, { 38: String(approvals), 39: "00" }));
    bytes[random.below(bytes.length)] = random.below(256);
    // No message type begins with this byte.
    bytes[0] = 0xff;
    time.after(random.skewed(0, 50), process, () => line.socket.write(frame(framing, bytes)));
  }

  function write({ specification }: Line, { mti, fields }: IsoMessage, more: IsoFields): Buffer {
    const own: { [field: number]: string } = {};
    for (const field of echoed) if (fields[field] !== undefined) own[field] = fields[field];
    return encode(specification, { mti: responseMti(mti), fields: { ...own, ...more } });
  }
}

type Manner = (typeof usual)[number] | (typeof unruly)[number] | (typeof fickle)[number];
type Line = { readonly socket: VirtualSocket; readonly specification: Specification };
type Told = Set<SimulatedProcess>;
type Reply = (fields: IsoFields, afterMs?: number) => void;

const refusals = ["05", "51", "14", "91", "1A", "65"] as const;
const usualPayouts = ["approve", "approve", "approve", "queue", "refuse"] as const;
const unrulyPayouts = [
  ...(["approve without a word", "approve and hang up", "lose", "garble", "queue"] as const),
  ...(["do it and say 09", "say 09", "approve"] as const),
] as const;
const usual = [
  ...(["approve", "approve", "approve", "approve", "approve", "queue", "refuse"] as const),
] as const;
const fickle = ["refuse, then approve", "wait for the reversal"] as const;
const unruly = [
  ...(["approve twice", "approve late", "approve without a word", "lose", "garble"] as const),
  ...(["do it and say 09", "say 09", "say 09, then approve", "approve and hang up"] as const),
  ...(["approve a half", "queue", ...fickle] as const),
] as const;
