/**
 * The sandbox bank, as a process of its own or inside a test: an acquirer host with a port for each
 * dialect, a directory server and an ACS for 3-D Secure, two wallets, and the interface that
 * controls them. It shares no code with the gateway except the public protocols.
 */
import { join } from "node:path";
import { ApprovalNumbers, DelayedApprovals, type HostContext } from "./acquirer-host/answers.ts";
import { deliverKey } from "./acquirer-host/authentication.ts";
import { ascii, binary } from "./acquirer-host/dialects.ts";
import { makeHostPort } from "./acquirer-host/host.ts";
import { iso93 } from "./acquirer-host/iso93.ts";
import { BankClock, type BankContext } from "./bank-context.ts";
import { openIdentities } from "./certificates/chains.ts";
import { makeControlServer } from "./control-server.ts";
import { BadRequest, type Log } from "./http.ts";
import { AuthenticationValues } from "./issuer.ts";
import { Ledger } from "./ledger.ts";
import type { ThreeDsMatch } from "./message-log.ts";
import { type LoggedMessage, MessageLog, type MessageMatch } from "./message-log.ts";
import { Switchboard, type Switches } from "./switches.ts";
import { openThreeDs } from "./threeds.ts";
import type { WalletAOptions } from "./wallets/walleta.ts";
import type { WalletBOptions } from "./wallets/walletb.ts";
import { openWallets } from "./wallets/wallets.ts";

/** The ports. The system chooses those that are 0 or absent. */
type BankOptions = {
  readonly httpPort: number;
  readonly hostPort: number;
  readonly binaryHostPort?: number;
  readonly iso93HostPort?: number;
  readonly directoryPort?: number;
  readonly host?: string;
  readonly dataDir: string;
  readonly log?: Log;
  /** Returns the time in milliseconds. The default is the time of the machine. */
  readonly now?: () => number;
  /** How long the directory server waits for an RRes. */
  readonly resultTimeoutMs?: number;
};

export type Bank = Awaited<ReturnType<typeof startBank>>;

export type { LoggedMessage, MessageMatch, WalletAOptions, WalletBOptions };

export async function startBank(options: BankOptions) {
  const parts = await makeParts(options);
  const { asciiPort, binaryPort, iso93Port, control, host, threeDs, wallets } = parts;
  const { ledger, messages } = host;
  const { directory } = threeDs;
  const listeners = [
    asciiPort,
    binaryPort,
    iso93Port,
    control,
    directory.listener,
    wallets.sessions,
  ];

  /** Drops every connection. All bookings are on disk when it resolves. */
  async function stop(): Promise<void> {
    host.delayedApprovals.close();
    await Promise.all(listeners.map((listener) => listener.close()));
    threeDs.close();
    messages.close();
    ledger.close();
  }

  try {
    for (const listener of listeners) await listener.open();
  } catch (error) {
    await stop();
    throw error;
  }

  const { host: ip = "127.0.0.1" } = options;
  return {
    url: `http://${ip}:${control.port}`,
    hostAddress: `${ip}:${asciiPort.port}`,
    binaryHostAddress: `${ip}:${binaryPort.port}`,
    iso93HostAddress: `${ip}:${iso93Port.port}`,
    httpPort: control.port,
    hostPort: asciiPort.port,
    binaryHostPort: binaryPort.port,
    iso93HostPort: iso93Port.port,
    /** The URL of the directory server, which serves `/emv3ds` and `/threeds102`. */
    directoryUrl: `https://${ip}:${directory.listener.port}`,
    /**
     * The folder of certificates and keys: `directory-ca.pem`, `gateway.pem`, `host-ca.pem` and
     * others.
     */
    tlsFolder: parts.tlsFolder,
    /** The folder with the roots of the wallets: `walleta-root.pem`, `walletb-root-keys.json`. */
    walletFolder: wallets.folder,
    ledger: (reference?: string) => ledger.entries(reference).slice(),
    messages: (reference?: string) => messages.list(reference),
    waitForMessage: (match: MessageMatch) => messages.waitFor(match),
    threeDsMessages: (transactionId?: string) => threeDs.messages.list(transactionId),
    waitForThreeDsMessage: (match: ThreeDsMatch) => threeDs.messages.waitFor(match),
    /** Forgets the messages of both kinds. The bookings remain. */
    forgetMessages() {
      messages.forget();
      threeDs.messages.forget();
    },
    switches: () => host.switches.current,
    async setSwitches(patch: Partial<Switches>) {
      const changed = await parts.setSwitches(patch);
      if (changed instanceof BadRequest) throw new Error(changed.sentence);
    },
    /**
     * Delivers a key over one of the gate's connections. Resolves with field 39 of the gateway's
     * answer.
     */
    async deliverKey(gate: string): Promise<string> {
      const open = [...(host.connections.get(gate) ?? [])].find((each) => each.signedOn);
      return open === undefined ? "no connection" : deliverKey(host, open);
    },
    /** Makes a genuine value of this card, for tests of the host without 3-D Secure. */
    makeAuthenticationValue: (card: string) => host.authenticationValues.make(card),
    mintWalletA: wallets.mintWalletA,
    mintWalletB: wallets.mintWalletB,
    stop,
  };
}

async function makeParts(options: BankOptions) {
  const { dataDir, host: ip = "127.0.0.1", log = () => {}, resultTimeoutMs = 5_000 } = options;
  const addressOf = (port = 0) => ({ host: ip, port });
  const clock = new BankClock(options.now);
  const switches = new Switchboard();
  const authenticationValues = await AuthenticationValues.open(
    join(dataDir, "bank", "cavv.key"),
    () => switches.current.authenticationValue,
  );
  const bank: BankContext = {
    dataDir,
    clock,
    switches,
    authenticationValues,
    log,
    resultTimeoutMs,
  };
  const tlsFolder = join(dataDir, "bank", "tls");
  const identities = await openIdentities(tlsFolder, clock.now().ms);

  const host: HostContext = {
    ...bank,
    identity: identities.host,
    ledger: await Ledger.open(join(dataDir, "bank", "ledger.jsonl"), clock, log),
    messages: new MessageLog(),
    approvalNumbers: new ApprovalNumbers(),
    delayedApprovals: new DelayedApprovals(),
    connections: new Map(),
    deliveries: new Map(),
    unansweredReversals: new Map(),
  };
  const asciiPort = makeHostPort(ascii, addressOf(options.hostPort), host);
  const binaryPort = makeHostPort(binary, addressOf(options.binaryHostPort), host);
  const iso93Port = makeHostPort(iso93, addressOf(options.iso93HostPort), host);

  async function setSwitches(patch: unknown): Promise<Switches | BadRequest> {
    const { directoryDown: wasDirectoryDown, approveLate: wasLate } = switches.current;
    const changed = switches.set(patch);
    if (changed instanceof BadRequest) return changed;
    if (wasDirectoryDown && !changed.directoryDown) threeDs.directory.dropUnanswered();
    if (wasLate && !changed.approveLate) host.delayedApprovals.releaseAll();
    const ports = [asciiPort, binaryPort, iso93Port];
    await Promise.all(ports.map((port) => (changed.hostDown ? port.close() : port.open())));
    return changed;
  }

  const acsUrl = () => `http://${ip}:${control.port}`;
  const threeDs = openThreeDs(bank, identities, addressOf(options.directoryPort), acsUrl);
  const wallets = await openWallets(bank, identities.directory, addressOf());
  const controlled = { ...host, setSwitches, threeDs, wallets };
  const control = makeControlServer(controlled, addressOf(options.httpPort));
  const ports = { asciiPort, binaryPort, iso93Port };
  return { ...ports, control, host, setSwitches, threeDs, wallets, tlsFolder };
}
