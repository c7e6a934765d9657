/**
 * The bank as two wallets: it certifies or remembers who is paid, and mints the tokens that the
 * app of a wallet would hand over. They are genuine in everything but the root they are signed
 * under, so that a gateway takes them by trusting that root and by nothing else.
 */
import { join } from "node:path";
import type { BankClock } from "../bank-clock.ts";
import { writeKept } from "../certificates/open-family.ts";
import type { Reply } from "../http-exchange.ts";
import type { AuthenticationValues } from "../issuer/authentication-values.ts";
import { MintFault } from "./members.ts";
import { issueToMerchant } from "./merchant-certificate.ts";
import { mintWalletA } from "./mint-walleta.ts";
import { mintWalletB } from "./mint-walletb.ts";
import { Recipients } from "./recipients.ts";
import { makeWalletRoutes } from "./routes.ts";
import { readWalletAOptions, type WalletAOptions } from "./walleta-options.ts";
import { WalletASigners } from "./walleta-signers.ts";
import { openWalletBIdentity } from "./walletb-identity.ts";
import {
  readWalletBOptions,
  readWalletBRecipient,
  type WalletBOptions,
} from "./walletb-options.ts";

export type WalletSide = {
  readonly folder: string;
  readonly routes: ReadonlyMap<string, Reply>;
  /** Both throw when the options are none. */
  readonly mintWalletA: (options: WalletAOptions) => Promise<string>;
  readonly mintWalletB: (options: WalletBOptions) => Promise<string>;
};

type Needs = {
  readonly dataDir: string;
  readonly clock: BankClock;
  readonly authenticationValues: AuthenticationValues;
};

export async function makeWalletSide({ dataDir, ...needs }: Needs): Promise<WalletSide> {
  const folder = join(dataDir, "bank", "wallets");
  const desk = await openDesk(folder, needs);
  return {
    folder,
    routes: makeWalletRoutes(desk),
    mintWalletA: async (options) => orThrow(await desk.mintA(options)),
    mintWalletB: async (options) => orThrow(await desk.mintB(options)),
  };
}

export type WalletDesk = Awaited<ReturnType<typeof openDesk>>;

async function openDesk(folder: string, { clock, authenticationValues }: Omit<Needs, "dataDir">) {
  const signers = await WalletASigners.open(folder, clock.now().ms);
  const identity = await openWalletBIdentity(folder);
  const recipients = await Recipients.open(join(folder, "recipients.json"));
  await writeKept(join(folder, "SANDBOX"), sandboxNote, "everybody");

  return {
    recipients,

    async mintA(body: unknown): Promise<string | MintFault> {
      const options = readWalletAOptions(body);
      if (options instanceof MintFault) return options;
      const { walleta: recipient } = recipients.current;
      const nowMs = clock.now().ms;
      return mintWalletA(options, { signers, recipient, authenticationValues, nowMs });
    },

    async mintB(body: unknown): Promise<string | MintFault> {
      const options = readWalletBOptions(body);
      if (options instanceof MintFault) return options;
      const { walletb: recipient } = recipients.current;
      const nowMs = clock.now().ms;
      return mintWalletB(options, { identity, recipient, authenticationValues, nowMs });
    },

    /** In PEM; its holder is the recipient from now on. */
    async certify(request: string, merchantIdentifier: string, days: number) {
      const wish = { request, merchantIdentifier, days, nowMs: clock.now().ms };
      const certificate = await issueToMerchant(wish, signers.intermediate);
      if (certificate instanceof MintFault) return certificate;
      await recipients.remember({ walleta: { certificate, merchantIdentifier } });
      return certificate;
    },

    async setRecipient(body: unknown) {
      const walletb = readWalletBRecipient(body);
      if (walletb instanceof MintFault) return walletb;
      await recipients.remember({ walletb });
      return walletb;
    },
  };
}

/** Beside the roots, for whoever looks into the folder; the roots themselves say it too. */
const sandboxNote = `The roots in this folder are the sandbox bank's.
Whoever trusts them takes tokens that cost nobody anything.
`;

function orThrow(minted: string | MintFault): string {
  if (minted instanceof MintFault) throw new Error(minted.sentence);
  return minted;
}
