/**
 * The acquirers of the gates. There is one for each gate: it is started when the gate appears in
 * the configuration, changed with its settings, and stopped when the gate is removed.
 */
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
  /** Returns the number of connections that are up, and the number that should be. */
  connections(): { readonly up: number; readonly wanted: number };
  /**
   * Takes an answer that the host sent to another process. Returns false if no request of this
   * process waits for it.
   */
  takeAnswer(answer: string, receivedAt: number): boolean;
  /** `asked` means that the host delivers the key by a message of its own. */
  askForKey(): Promise<"delivered" | "asked" | Problem>;
  /** Throws if the settings do not fit the messages. Nothing has changed then. */
  change(gate: ConfiguredGate): void;
  stop(): Promise<void>;
};
type DueKeys = {
  /** Returns the gates whose next key is due. Each is returned to one node. */
  claimDue(): Promise<readonly GateId[]>;
  postpone(gate: GateId): Promise<void>;
};

/** Asks the hosts whose next key for message authentication is due. */
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

/** Starts an acquirer. `onReady` is called whenever a connection of the gate comes up. */
export type StartAcquirer = (gate: Gate, onReady: () => void) => RunningAcquirer;

export type Gates = ReturnType<typeof makeGates>;

/**
 * Makes the acquirers. While `mayStart` returns false, no link signs on; links that are up stay.
 */
export function makeGates(clock: Clock, mayStart: () => boolean = () => true) {
  const running = new Map<GateId, { gate: Gate; readonly acquirer: RunningAcquirer }>();
  const stopping = new Set<Promise<void>>();
  const waits = new Set<(isReady: boolean) => void>();
  let start: StartAcquirer | undefined;

  return {
    find: (id: GateId): RunningAcquirer | undefined => running.get(id)?.acquirer,
    isReady: (id: GateId) => running.get(id)?.acquirer.isReady() === true,
    /**
     * Resolves with true when a connection of any gate has come up, and with false at the given
     * moment.
     */
    nextReady,
    /** Returns the connections by the names of their gates. */
    connections: () =>
      new Map([...running.values()].map((each) => [each.gate.name, each.acquirer.connections()])),
    list: (): readonly Gate[] => [...running.values()].map(({ gate }) => gate),
    /** Starts links from now on. */
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
      // A configuration that is read after this moment must not start links again, because nothing
      // would stop them.
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

  /** The error because of which the gate could not be started or changed. */
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

/** A gate: the settings of one way to an acquirer, as they are stored in the database. */
export type Gate = {
  readonly id: GateId;
  readonly name: string;
  readonly kind: GateKind;
  readonly settings: GateSettings;
  /**
   * The keys for message authentication, the newest first. A gate without keys works without codes.
   */
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

/**
 * `known` means that the key is already the gate's newest. `replayed` means that the key was used
 * before and is not accepted again.
 */
export type StoreKey = (delivered: DeliveredKey) => Promise<"stored" | "known" | "replayed">;

/** The part of a gate from which its acquirer is made. */
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
   * How often the gate was moved to another host, dialect or identity at its acquirer; never if
   * absent. The present host's answers about charges from before the last move prove nothing.
   */
  readonly hostChanges?: number;
  /** The terminal's time zone as an IANA name; UTC if absent. */
  readonly zone?: string;
  readonly worksWithoutCvv: boolean;
  readonly partialReversal: boolean;
  readonly partialCapture: boolean;
  /** From when on returns are sent as refunds; never if absent. */
  readonly refunds?: RefundPolicy;
  /** How long a hold lasts; seven days if absent. */
  readonly holdDays?: number;
  /** Whether the gate leads to a sandbox, as gates of staging and of a rehearsal do. */
  readonly sandbox?: boolean;
  /** The currencies that the gate accepts; every currency if absent. */
  readonly currencies?: readonly string[];
  /** In minor units, as text. Orders with other amounts go through another gate. */
  readonly amountMin?: string;
  readonly amountMax?: string;
  /** Whether the acquirer takes payouts, and on which terms. */
  readonly payouts?: boolean;
  readonly payoutRepeatHours?: number;
  readonly payoutFields?: readonly string[];
  /** The defaults for recurrent payments that do not state their initiator and scenario. */
  readonly recurrent?: CredentialDefaults;
  /** The acquirer's fee. */
  readonly fee?: Fee;
  /** Further addresses of the host. */
  readonly otherAddresses?: readonly Address[];
  /** The number of connections over all addresses together; one for each address if absent. */
  readonly connections?: number;
  /** Whether every connection signs on, which is the default. */
  readonly signOn?: boolean;
  /** Whether the connection uses TLS; by default it is plain TCP. */
  readonly tls?: boolean;
  /** PEM files with the authorities of the host's certificate; those of the system if absent. */
  readonly tlsRootsFile?: string;
  /** The name in the host's certificate, if it is not the address. */
  readonly tlsServerName?: string;
  /** The gateway's client certificate and its key, for hosts that demand one. */
  readonly tlsCertificateFile?: string;
  readonly tlsKeyFile?: string;
};

/**
 * The effect of a changed setting in a running node. `links`: new links are opened, and the old
 * ones are drained. `messages`: it applies to messages that are built from then on. `routing`: it
 * applies to orders that are routed from then on. A change of the kind is a change of the links.
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

/**
 * Reads each gate's client certificate, which the next connection shows, from its files. It is
 * undefined if the files cannot be read.
 */
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
