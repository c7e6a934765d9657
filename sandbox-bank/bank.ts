/**
 * The sandbox bank: an acquirer host, with one port for each dialect, a directory server and an ACS
 * for 3-D Secure, and the page that steers them, in one process of its own or in a test's. It
 * shares no code with the gateway except the public protocols.
 */
import { join } from "node:path";
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { makeAttend } from "./acquirer-host/attend.ts";
import { ascii } from "./acquirer-host/dialects/ascii.ts";
import { binary } from "./acquirer-host/dialects/binary.ts";
import { AcquirerHost } from "./acquirer-host/host.ts";
import { LateAnswers } from "./acquirer-host/late-answers.ts";
import { Numbers } from "./acquirer-host/numbers.ts";
import { Arrivals, type Match } from "./arrivals.ts";
import { BankClock } from "./bank-clock.ts";
import { ControlServer } from "./control.ts";
import { AuthenticationValues } from "./issuer/authentication-values.ts";
import { Ledger, type LedgerEntry } from "./ledger.ts";
import { type LoggedMessage, MessageLog } from "./message-log.ts";
import { Switchboard, type Switches, SwitchFault } from "./switches.ts";
import type { ThreeDsFields, ThreeDsMatch, ThreeDsMessage } from "./threeds-messages.ts";
import { makeThreeDsSide } from "./threeds-side.ts";
import { makeWalletSide } from "./wallets/wallet-side.ts";
import type { WalletAOptions } from "./wallets/walleta-options.ts";
import type { WalletBOptions } from "./wallets/walletb-options.ts";

export type BankOptions = {
  readonly httpPort: number;
  readonly hostPort: number;
  /** A free one unless it is said. */
  readonly binaryHostPort?: number;
  /** A free one unless it is said. */
  readonly directoryPort?: number;
  readonly host?: string;
  readonly dataDir: string;
  readonly log?: (line: string) => void;
};

export type Bank = {
  readonly url: string;
  readonly hostAddress: string;
  readonly binaryHostAddress: string;
  readonly httpPort: number;
  readonly hostPort: number;
  readonly binaryHostPort: number;
  /** Of the directory server; `/emv3ds` and `/threeds102` are below it. */
  readonly directoryUrl: string;
  /** The certificates: `directory-ca.pem`, `gateway.pem`, `pares-root.pem` and the like. */
  readonly tlsFolder: string;
  ledger(reference?: string): readonly LedgerEntry[];
  messages(reference?: string): readonly LoggedMessage[];
  switches(): Switches;
  setSwitches(patch: Partial<Switches>): Promise<void>;
  received(match: Match): Promise<IsoMessage>;
  /** Of 3-D Secure, oldest first, card numbers masked. */
  threeDsMessages(transactionId?: string): readonly ThreeDsMessage[];
  /** The first such message, when it has been received or sent. */
  heard(match: ThreeDsMatch): Promise<ThreeDsFields>;
  /** A genuine one for this card, for tests of the host that go without 3-D Secure. */
  makeAuthenticationValue(card: string): string;
  /** The roots of the wallets: `walleta-root.pem`, `walletb-root-keys.json`. */
  readonly walletFolder: string;
  /** The same as what `POST /wallets/walleta` answers. */
  mintWalletA(options: WalletAOptions): Promise<string>;
  /** The same as what `POST /wallets/walletb` answers. */
  mintWalletB(options: WalletBOptions): Promise<string>;
  stop(): Promise<void>;
};

export type {
  LedgerEntry,
  LoggedMessage,
  Match,
  Switches,
  ThreeDsFields,
  ThreeDsMatch,
  ThreeDsMessage,
  WalletAOptions,
  WalletBOptions,
};

export async function startBank(options: BankOptions): Promise<Bank> {
  const parts = await makeParts(options);
  const { acquirer, binaryAcquirer, arrivals, change, control, ledger, messages, switches } = parts;
  const { directory, messages: threeDsMessages, tlsFolder } = parts.threeDs;
  const { folder: walletFolder, mintWalletA, mintWalletB } = parts.wallets;
  const { host = "127.0.0.1", httpPort, directoryPort = 0 } = options;
  try {
    await acquirer.open();
    await binaryAcquirer.open();
    await control.open({ host, port: httpPort });
    await directory.open({ host, port: directoryPort });
  } catch (error) {
    await stop(parts);
    throw error;
  }

  return {
    url: `http://${host}:${control.port}`,
    hostAddress: `${host}:${acquirer.port}`,
    binaryHostAddress: `${host}:${binaryAcquirer.port}`,
    httpPort: control.port,
    hostPort: acquirer.port,
    binaryHostPort: binaryAcquirer.port,
    directoryUrl: `https://${host}:${directory.port}`,
    tlsFolder,
    ledger: (reference) => ledger.entries(reference).slice(),
    messages: (reference) => messages.list(reference),
    switches: () => switches.current,
    async setSwitches(patch) {
      const changed = await change(patch);
      if (changed instanceof SwitchFault) throw new Error(changed.sentence);
    },
    received: (match) => arrivals.waitFor(match),
    threeDsMessages: (transactionId) => threeDsMessages.list(transactionId),
    heard: (match) => threeDsMessages.waitFor(match),
    makeAuthenticationValue: (card) => parts.authenticationValues.make(card),
    walletFolder,
    mintWalletA,
    mintWalletB,
    stop: () => stop(parts),
  };
}

async function makeParts(options: BankOptions) {
  const { hostPort, binaryHostPort = 0, host = "127.0.0.1", dataDir, log = () => {} } = options;
  const clock = new BankClock();
  const switches = new Switchboard();
  const late = new LateAnswers();
  const messages = new MessageLog();
  const arrivals = new Arrivals(messages);
  const ledger = await Ledger.open(join(dataDir, "bank", "ledger.jsonl"), clock, log);
  const authenticationValues = await AuthenticationValues.open(join(dataDir, "bank", "cavv.key"));

  const numbers = new Numbers();
  const attend = makeAttend({ clock, ledger, switches, late, numbers, authenticationValues });
  const writeBooks = () => ledger.write();
  const shared = { attend, arrivals, clock, messages, writeBooks, log };
  const acquirer = new AcquirerHost({ host, port: hostPort }, { ...shared, dialect: ascii });
  const binaryAddress = { host, port: binaryHostPort };
  const binaryAcquirer = new AcquirerHost(binaryAddress, { ...shared, dialect: binary });

  async function change(patch: unknown): Promise<Switches | SwitchFault> {
    const wasDirectoryDown = switches.current.directoryDown;
    const changed = switches.set(patch);
    if (changed instanceof SwitchFault) return changed;
    if (wasDirectoryDown && !changed.directoryDown) threeDs.directory.dropUnanswered();
    const hosts = [acquirer, binaryAcquirer];
    await Promise.all(hosts.map((each) => (changed.hostDown ? each.close() : each.open())));
    return changed;
  }

  const acsUrl = () => `http://${host}:${control.port}`;
  const secure = { dataDir, host, clock, switches, authenticationValues, acsUrl, log };
  const threeDs = await makeThreeDsSide(secure);
  const wallets = await makeWalletSide({ dataDir, clock, authenticationValues });
  const control = new ControlServer({ ledger, messages, switches, change, threeDs, wallets, log });
  const books = { ledger, messages, switches, authenticationValues };
  return { acquirer, binaryAcquirer, arrivals, change, control, late, threeDs, wallets, ...books };
}

type Parts = Awaited<ReturnType<typeof makeParts>>;

/** Drops every connection at once; what was booked is on disk when this is done. */
async function stop(parts: Parts): Promise<void> {
  const { acquirer, binaryAcquirer, arrivals, control, late, ledger, threeDs } = parts;
  late.close();
  const doors = [acquirer, binaryAcquirer, control, threeDs];
  await Promise.all(doors.map((door) => door.close()));
  arrivals.close();
  await ledger.close();
}
