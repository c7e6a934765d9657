/**
 * A host that follows a test's instructions, links and acquirers that connect to it or to a sandbox
 * in any dialect, and a log that tests can wait for.
 */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import {
  DecodeFault,
  decode,
  describe,
  encode,
  FrameFault,
  FrameReader,
  frame,
  type IsoMessage,
  responseMti,
} from "@tollgate/protocols/iso8583";
import type { Answer } from "../../../orders/order.ts";
import { TestClock } from "../../../values/testing.ts";
import { type GateKind, type GateSettings, gateKinds } from "../../gates.ts";
import { makeGateAuthentication } from "../connection.ts";
import { dialects } from "../connector.ts";
import type { Dialect } from "../dialect.ts";
import { sandbox } from "../dialects/sandbox.ts";
import { Link, type LinkLimits, usualLinkLimits } from "../link.ts";
import { Recent } from "../pending-answers.ts";
import { startIso8583Acquirer } from "../running-acquirer.ts";
import { makeAttempt, settings } from "./attempts.ts";

/** The host's answer to a message: another message, raw bytes, or nothing. */
type Says = (message: IsoMessage) => IsoMessage | Buffer | undefined;

/** A host that follows a test's instructions, for behaviour that the sandbox does not have. */
export async function startHost(
  t: TestContext,
  says: Says,
  { specification, framing }: Dialect = sandbox,
): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const reader = new FrameReader(framing, { payloadBytesMax: 8_192 });
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      const frames = reader.push(chunk);
      for (const payload of frames instanceof FrameFault ? [] : frames) {
        const message = decode(specification, payload);
        const said = message instanceof DecodeFault ? undefined : says(message);
        if (said instanceof Uint8Array) socket.write(said);
        else if (said !== undefined) socket.write(frame(framing, encode(specification, said)));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

export function accept({ mti, fields }: IsoMessage): IsoMessage {
  const accepted = { "0": "00", "1": mti.startsWith("18") ? "800" : "000" }[mti[0] ?? ""] ?? "";
  return { mti: responseMti(mti), fields: { ...fields, 39: accepted } };
}

export function openLink(t: TestContext, port: number, limits: Partial<LinkLimits> = {}) {
  const clock = new TestClock();
  const journal = new Journal();
  const link = new Link({
    addresses: [{ host: "127.0.0.1", port }],
    wire: { ...sandbox, ...makeGateAuthentication(sandbox) },
    tls: undefined,
    signsOn: true,
    isSpare: () => false,
    conversation: { waiting: new Map(), answered: new Recent(100) },
    clock,
    random: () => 0,
    limits: { ...usualLinkLimits, ...limits },
    events: {
      onState: (state, why) => journal.log("state", { state, why }),
      onUnmatched: (message, earlierCode) =>
        journal.log("unmatched", { ...describe(message), earlierCode }),
      onRequest: async () => undefined,
      onUnreadable: ({ reason }, bytes) => journal.log("unreadable", { reason, bytes }),
    },
  });
  link.open();
  t.after(() => closeInTime(clock, link.close()));
  const until = (state: string) => journal.until("state", { state });
  return { clock, journal, link, until };
}

export const answerTimeoutMs = 20_000;

export async function connectAcquirer(
  t: TestContext,
  port: number,
  dialect = sandbox,
  changes: Partial<GateSettings> = {},
) {
  const clock = new TestClock();
  const journal = new Journal();
  const late: { readonly reference: string; readonly answer: Answer }[] = [];
  const observed: string[] = [];
  const kind = gateKinds.find((each) => dialects[each] === dialect) ?? "sandbox";
  const acquirer = startIso8583Acquirer(
    { kind, settings: { ...settings, port, ...changes } },
    {
      clock,
      answerTimeoutMs,
      random: () => 0,
      log: journal.log,
      onUnmatched: () => undefined,
      onLateApproval: ({ reference, answer }) => void late.push({ reference, answer }),
      onUnreadable: (reason) => void observed.push(reason),
      onAnswer: (mti, answerMs) => void observed.push(`${mti} ${answerMs} ms`),
    },
  );
  t.after(() => closeInTime(clock, acquirer.stop()));
  await journal.until("acquirer.link_up");
  return { acquirer, clock, journal, late, observed };
}

/** Moves the clock, so that nothing waits when a test ends. */
function closeInTime(clock: TestClock, closed: Promise<void>): Promise<void> {
  clock.move(100_000);
  return closed;
}

type Entry = { readonly event: string; readonly facts: Readonly<Record<string, unknown>> };

/** Each wait continues where the previous one ended. */
export class Journal {
  readonly entries: Entry[] = [];
  #read = 0;
  #onEntry: () => void = () => {};

  readonly log = (event: string, facts: object): void => {
    this.entries.push({ event, facts: { ...facts } });
    this.#onEntry();
  };

  async until(event: string, wanted: Readonly<Record<string, unknown>> = {}): Promise<Entry> {
    for (;;) {
      for (const entry of this.entries.slice(this.#read)) {
        this.#read += 1;
        const agrees = Object.entries(wanted).every(([name, value]) => entry.facts[name] === value);
        if (entry.event === event && agrees) return entry;
      }
      await new Promise<void>((resolve) => {
        this.#onEntry = resolve;
      });
    }
  }
}

export const ports: Readonly<Record<GateKind, "hostPort" | "binaryHostPort" | "iso93HostPort">> = {
  sandbox: "hostPort",
  iso87_binary: "binaryHostPort",
  iso93_ascii: "iso93HostPort",
};

/** The part of the sandbox that tests need. Only tests may import the sandbox. */
type Sandbox = {
  readonly hostPort: number;
  readonly binaryHostPort: number;
  readonly iso93HostPort: number;
  ledger(reference?: string): readonly { readonly kind: string; readonly amount: bigint }[];
};

export function makeStartWorld<Started extends Sandbox>(
  startSandbox: (t: TestContext) => Promise<Started>,
) {
  return async (t: TestContext, kind: GateKind) => {
    const sandbox = await startSandbox(t);
    return { sandbox, ...(await connectAcquirer(t, sandbox[ports[kind]], dialects[kind])) };
  };
}

/** Returns what remains of a charge in the sandbox's ledger. */
export function outstanding(
  sandbox: Sandbox,
  reference = makeAttempt().identifiers.reference,
): bigint {
  return sandbox
    .ledger(reference)
    .reduce((sum, { kind, amount }) => sum + (["reversal"].includes(kind) ? -amount : amount), 0n);
}

export function each(name: string, run: (t: TestContext, kind: GateKind) => Promise<void>): void {
  for (const kind of gateKinds) test(`${name}, ${kind}`, (t) => run(t, kind));
}
