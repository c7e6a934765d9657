/** The acquirers of the gates, which start, change and stop with the gates in the configuration. */
import { isDeepStrictEqual } from "node:util";
import type { MacKey, ZoneCipher } from "@tollgate/protocols/iso8583";
import { readCertificateFiles } from "../certificates/certificate-files.ts";
import type { CredentialDefaults, RefundPolicy } from "../orders/order.ts";
import type { GateId } from "../values/ids.ts";
import type { Fee } from "../values/money.ts";
import type { Problem } from "../values/problem.ts";
import type { Secret } from "../values/secret.ts";
import type { Clock, Instant } from "../values/time.ts";
import type { Acquirer } from "./acquirer.ts";

export type RunningAcquirer = Acquirer & {
  /** `up` counts connections that are up, `wanted` those that should be. */
  connections(): { readonly up: number; readonly wanted: number };
  /** Takes an answer from another process. Returns false if no request here waits for it. */
  takeAnswer(answer: string, receivedAt: number): boolean;
  /** `asked` means that the host delivers the key by a message of its own. */
  askForKey(): Promise<"delivered" | "asked" | Problem>;
  /** Throws if the settings do not fit the messages. Nothing has changed then. */
  change(gate: ConfiguredGate): void;
  stop(): Promise<void>;
};
type DueKeys = {
  /** Each gate whose next key is due is returned to one node. */
  claimDue(): Promise<readonly GateId[]>;
  postpone(gate: GateId): Promise<void>;
};

export async function askForDueKeys(
  gates: Pick<Gates, "find">,
  { claimDue, postpone }: DueKeys,
  onUnasked: (gate: GateId, cause: string) => void,
): Promise<void> {
  for (const id of await claimDue()) {
    const asked = await gates.find(id)?.askForKey();
    if (asked === "delivered" || asked === "asked") continue;
    onUnasked(id, asked?.sentence ?? "it is not running");
    await postpone(id);
  }
}

/** `onReady` is called whenever a connection of the gate comes up. */
export type StartAcquirer = (gate: Gate, onReady: () => void) => RunningAcquirer;

export type Gates = ReturnType<typeof makeGates>;

/** While `mayStart` returns false, no link signs on; links that are up stay. */
export function makeGates(clock: Clock, mayStart: () => boolean = () => true) {
  const running = new Map<GateId, { gate: Gate; readonly acquirer: RunningAcquirer }>();
  const stopping = new Set<Promise<void>>();
  const waits = new Set<(isReady: boolean) => void>();
  let start: StartAcquirer | undefined;

  return {
    find: (id: GateId): RunningAcquirer | undefined => running.get(id)?.acquirer,
    isReady: (id: GateId) => running.get(id)?.acquirer.isReady() === true,
    /** Resolves with true when a connection of any gate is up, and with false at the given time. */
    nextReady,
    connections: () =>
      new Map([...running.values()].map((each) => [each.gate.name, each.acquirer.connections()])),
    list: (): readonly Gate[] => [...running.values()].map(({ gate }) => gate),
    /** From now on, links are started. */
    open(opened: StartAcquirer): void {
      start = opened;
    },
    /** If a gate cannot be started or changed, the others are updated nevertheless. */
    update(gates: Iterable<Gate>): void {
      if (start === undefined || (running.size === 0 && !mayStart())) return;
      const wanted = new Map([...gates].map((gate) => [gate.id, gate]));
      for (const id of running.keys()) if (!wanted.has(id)) stopOne(id);
      const errors = [...wanted.values()].map(put).filter((error) => error !== undefined);
      if (errors.length > 0) throw errors[0];
    },
    async stop(): Promise<void> {
      // A configuration that is read later must not start links, because nothing would stop them.
      start = undefined;
      for (const id of [...running.keys()]) stopOne(id);
      for (const end of [...waits]) end(false);
      await Promise.all(stopping);
    },
  };

  function nextReady(until: Instant): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const cancel = clock.after(Math.max(0, until - clock.now()), () => end(false));
    waits.add(end);
    return promise;

    function end(isReady: boolean): void {
      cancel();
      waits.delete(end);
      resolve(isReady);
    }
  }

  /** Wakes the waiting orders, which check whether they can use the link. */
  function announce(): void {
    for (const end of [...waits]) end(true);
  }

  /** Returns the error because of which the gate could not be started or changed. */
  function put(gate: Gate): unknown {
    try {
      const known = running.get(gate.id);
      if (known === undefined) {
        const acquirer = start?.(gate, announce);
        if (acquirer !== undefined) running.set(gate.id, { gate, acquirer });
      } else if (!isDeepStrictEqual(known.gate, gate)) {
        known.acquirer.change(gate);
        known.gate = gate;
      }
      return undefined;
    } catch (error) {
      return error;
    }
  }

  function stopOne(id: GateId): void {
    const stopped = running.get(id)?.acquirer.stop();
    running.delete(id);
    if (stopped === undefined) return;
    stopping.add(stopped);
    void stopped.finally(() => stopping.delete(stopped));
  }
}

/** The settings of one way to an acquirer, as they are stored in the database. */
export type Gate = {
  readonly id: GateId;
  readonly name: string;
  readonly kind: GateKind;
  readonly settings: GateSettings;
  /** Keys for message authentication, the newest first. Without keys there are no codes. */
  readonly macKeys?: readonly GateMacKey[];
  /** The key under which the host delivers those keys; undefined if it does not deliver any. */
  readonly zoneKey?: GateZoneKey;
};

export type GateMacKey = Omit<MacKey, "key"> & {
  readonly id: string;
  readonly key: Secret<string>;
};

export type GateZoneKey = Pick<MacKey, "algorithm" | "bytes"> & {
  readonly cipher: ZoneCipher;
  readonly key: Secret<string>;
  readonly checkValue: string;
};

/** A key that the host has delivered, decrypted and verified. */
export type DeliveredKey = Pick<MacKey, "algorithm" | "bytes"> & {
  readonly key: Secret<string>;
  readonly checkValue: string;
  /** The digest of the key under its zone key. A repeated message brings no new key. */
  readonly digest: Uint8Array;
};

/** `known`: it is the gate's newest key. `replayed`: it was used before and is refused. */
export type StoreKey = (delivered: DeliveredKey) => Promise<"stored" | "known" | "replayed">;

export type ConfiguredGate = Pick<Gate, "kind" | "settings" | "macKeys" | "zoneKey">;

/** The dialects of hosts. Each has a table of its own. */
export const gateKinds = ["sandbox", "iso87_binary", "iso93_ascii"] as const;
export type GateKind = (typeof gateKinds)[number];

export type GateSettings = {
  readonly host: string;
  readonly port: number;
  /** Fields 41, 42, 43, 18, 19 and 32 of every message. */
  readonly terminalId: string;
  readonly merchantCode: string;
  readonly nameAndPlace: string;
  readonly categoryCode: string;
  readonly countryCode: string;
  readonly acquirerId: string;
  readonly descriptor: string;
  /**
   * How often the gate was moved to another host, dialect or identity; never if absent. The present
   * host's answers about charges from before a move prove nothing.
   */
  readonly hostChanges?: number;
  /** The terminal's time zone as an IANA name; UTC if absent. */
  readonly zone?: string;
  readonly worksWithoutCvv: boolean;
  readonly partialReversal: boolean;
  readonly partialCapture: boolean;
  /** Returns are never sent as refunds if absent. */
  readonly refunds?: RefundPolicy;
  readonly holdDays?: number;
  /** Whether the gate leads to a sandbox, as in staging and in a rehearsal. */
  readonly sandbox?: boolean;
  /** Every currency if absent. */
  readonly currencies?: readonly string[];
  /** In minor units, as text. Orders with other amounts go through another gate. */
  readonly amountMin?: string;
  readonly amountMax?: string;
  readonly payouts?: boolean;
  readonly payoutRepeatHours?: number;
  readonly payoutFields?: readonly string[];
  /** Defaults of recurrent payments that do not state their initiator and scenario. */
  readonly recurrent?: CredentialDefaults;
  readonly fee?: Fee;
  /** Whether the gate's health changes its share of orders, which it does if absent. */
  readonly health?: boolean;
  readonly healthWindowS?: number;
  readonly healthMin?: number;
  readonly healthFailures?: number;
  readonly healthDrop?: number;
  readonly healthSlow?: number;
  readonly healthProbe?: number;
  readonly otherAddresses?: readonly Address[];
  /** The number over all addresses together; one for each address if absent. */
  readonly connections?: number;
  /** Whether every connection signs on, which is the default. */
  readonly signOn?: boolean;
  readonly tls?: boolean;
  /** PEM files with the authorities of the host's certificate; those of the system if absent. */
  readonly tlsRootsFile?: string;
  /** The name in the host's certificate, if it is not the address. */
  readonly tlsServerName?: string;
  /** The client certificate and its key, for hosts that demand one. */
  readonly tlsCertificateFile?: string;
  readonly tlsKeyFile?: string;
};

/**
 * The effect of a changed setting in a running node. `links`: new links are opened, and the old
 * ones are drained. `messages` and `routing`: later messages, or orders routed later, use the
 * setting. A change of the kind changes the links.
 */
export const consequences: Readonly<Record<keyof GateSettings, "links" | "messages" | "routing">> =
  {
    host: "links",
    port: "links",
    otherAddresses: "links",
    connections: "links",
    signOn: "links",
    tls: "links",
    tlsRootsFile: "links",
    tlsServerName: "links",
    tlsCertificateFile: "links",
    tlsKeyFile: "links",
    zone: "links",
    hostChanges: "links",
    terminalId: "messages",
    merchantCode: "messages",
    nameAndPlace: "messages",
    categoryCode: "messages",
    countryCode: "messages",
    acquirerId: "messages",
    descriptor: "routing",
    worksWithoutCvv: "routing",
    partialReversal: "routing",
    partialCapture: "routing",
    refunds: "routing",
    holdDays: "routing",
    sandbox: "routing",
    currencies: "routing",
    amountMin: "routing",
    amountMax: "routing",
    payouts: "routing",
    payoutRepeatHours: "routing",
    payoutFields: "routing",
    recurrent: "routing",
    fee: "routing",
    health: "routing",
    healthWindowS: "routing",
    healthMin: "routing",
    healthFailures: "routing",
    healthDrop: "routing",
    healthSlow: "routing",
    healthProbe: "routing",
  };

export type Addresses = readonly [Address, ...Address[]];
export type Address = Pick<GateSettings, "host" | "port">;

export function leadsToSandbox({ kind, settings }: Pick<Gate, "kind" | "settings">): boolean {
  return kind === "sandbox" || settings.sandbox === true;
}

export function addressesOf({
  host,
  port,
  otherAddresses = [],
}: Pick<GateSettings, "host" | "port" | "otherAddresses">): Addresses {
  return [{ host, port }, ...otherAddresses];
}

export function certificateFilesOf(settings: GateSettings) {
  const { tlsCertificateFile, tlsKeyFile, tlsRootsFile } = settings;
  const own = { certificateFile: tlsCertificateFile, keyFile: tlsKeyFile };
  return { ...own, authorityFile: tlsRootsFile };
}

/** Returns the certificates that the next connections show; undefined if unreadable. */
export async function readGateCertificates(
  gates: readonly Gate[],
): Promise<readonly (readonly [name: string, certificate: string | undefined])[]> {
  const own = gates.filter(({ settings: { tls, tlsCertificateFile } }) => {
    return tls === true && tlsCertificateFile !== undefined;
  });
  const read = own.map(async ({ name, settings }) => {
    const files = await readCertificateFiles(certificateFilesOf(settings)).catch(() => undefined);
    return [name, files?.cert] as const;
  });
  return Promise.all(read);
}
