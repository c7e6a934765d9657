/**
 * The sandbox bank as two wallets. It certifies or stores the merchants' keys, and mints the
 * payment tokens that the app of a wallet would deliver. They are genuine except for their root, so
 * a gateway accepts them by trusting that root and by nothing else.
 */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BankContext } from "../bank-context.ts";
import { type Identities, writeAtomically } from "../certificates/chains.ts";
import { identifier, readField, readFields, whole } from "../fields.ts";
import {
  type Address,
  BadRequest,
  bodyBytesMax,
  parseJson,
  type Route,
  type Routes,
  readBody,
  sendJson,
} from "../http.ts";
import {
  defaultMerchantIdentifier,
  mintWalletA,
  type WalletAOptions,
  type WalletARecipient,
  walletADefects,
  walletARecipientFields,
  walletAVersions,
} from "./walleta.ts";
import { certifyMerchant, openWalletASigners } from "./walleta-certificates.ts";
import { openWalletASessions } from "./walleta-sessions.ts";
import {
  authMethods,
  mintWalletB,
  openWalletBKeys,
  type WalletBOptions,
  type WalletBRecipient,
  walletBDefects,
  walletBRecipientFields,
  walletBVersions,
} from "./walletb.ts";

export type Wallets = Awaited<ReturnType<typeof openWallets>>;

/** The text of a file next to the roots, which are marked as sandbox roots themselves. */
const sandboxNote = `The roots in this folder are the sandbox bank's.
A gateway that trusts them accepts tokens that move no money.
`;

export async function openWallets(
  bank: BankContext,
  identity: Identities["directory"],
  address: Address,
) {
  const { dataDir, clock } = bank;
  const folder = join(dataDir, "bank", "wallets");
  await mkdir(folder, { recursive: true });
  const signers = await openWalletASigners(folder, clock.now().ms);
  const sessions = openWalletASessions(bank, identity, signers.authorities, address);
  const keys = await openWalletBKeys(folder);
  const recipients = await openRecipients(join(folder, "recipients.json"));
  await writeAtomically(join(folder, "SANDBOX"), sandboxNote, "everyone");

  const mintA = (body: unknown) =>
    mintWalletA(body, { ...bank, signers, last: recipients.last.walleta });
  const mintB = (body: unknown) =>
    mintWalletB(body, { ...bank, keys, last: recipients.last.walletb });
  const certify = async (request: string, query: URLSearchParams, isIdentity: boolean) => {
    const given = query.get("merchantIdentifier") ?? defaultMerchantIdentifier;
    const merchantIdentifier = readField('"merchantIdentifier"', identifier, given);
    if (merchantIdentifier instanceof BadRequest) return merchantIdentifier;
    const days = readField('"days"', certificateDays, query.get("days") ?? "760");
    if (days instanceof BadRequest) return days;
    const wanted = { request, merchantIdentifier, days, isIdentity, nowMs: clock.now().ms };
    const certificate = await certifyMerchant(wanted, signers.readMerchantIssuer());
    if (certificate instanceof BadRequest || isIdentity) return certificate;
    // The certified merchant is the recipient from now on.
    await recipients.store({ walleta: { certificate, merchantIdentifier } });
    return certificate;
  };
  const setRecipient = async (body: string) => {
    const walletb = readFields(parseJson(body), walletBRecipientFields);
    if (walletb instanceof BadRequest) return walletb;
    await recipients.store({ walletb });
    return JSON.stringify(walletb);
  };

  const [json, pem] = ["application/json", "application/x-pem-file"];
  const routes: Routes = new Map<string, Route>([
    [
      "GET /wallets",
      (_, response) =>
        sendJson(response, 200, listWallets(recipients.last, sessions.validationUrl())),
    ],
    ["POST /wallets/walleta", answerWith(json, (body) => mintA(parseJson(body)))],
    [
      "POST /wallets/walleta/certificate",
      answerWith(pem, (body, query) => certify(body, query, false)),
    ],
    [
      "POST /wallets/walleta/identity",
      answerWith(pem, (body, query) => certify(body, query, true)),
    ],
    ["POST /wallets/walleta/domain", answerWith(json, sessions.registerDomain)],
    ["POST /wallets/walletb", answerWith(json, (body) => mintB(parseJson(body)))],
    ["POST /wallets/walletb/recipient", answerWith(json, setRecipient)],
  ]);
  return {
    folder,
    routes,
    sessions: sessions.listener,
    /** Both throw for options that are refused. */
    mintWalletA: async (options: WalletAOptions) => getToken(await mintA(options)),
    mintWalletB: async (options: WalletBOptions) => getToken(mintB(options)),
  };
}

const certificateDays = whole(1, 3650, "a whole number from 1 to 3650");

function getToken(minted: string | BadRequest): string {
  if (minted instanceof BadRequest) throw new Error(minted.sentence);
  return minted;
}

type Answer = string | BadRequest;
type MakeAnswer = (body: string, query: URLSearchParams) => Answer | Promise<Answer>;

/** Answers with the text unchanged, because the bytes of a token are signed. */
function answerWith(contentType: string, make: MakeAnswer): Route {
  return async (request, response, query) => {
    const body = await readBody(request, bodyBytesMax);
    if (body === undefined) return sendJson(response, 413, { error: "The body is too long." });
    const answer = await make(body, query);
    if (answer instanceof BadRequest) return sendJson(response, 400, { error: answer.sentence });
    response.writeHead(200, { "content-type": contentType }).end(answer);
  };
}

function listWallets({ walleta, walletb }: Recipients, validation: string) {
  return {
    walleta: {
      mint: "POST /wallets/walleta",
      validation,
      versions: walletAVersions,
      defects: listDefects(walletADefects),
      recipient: walleta?.merchantIdentifier ?? null,
    },
    walletb: {
      mint: "POST /wallets/walletb",
      versions: walletBVersions,
      authMethods,
      defects: listDefects(walletBDefects),
      recipient: walletb?.recipientId ?? null,
      gatewayMerchantId: walletb?.gatewayMerchantId ?? null,
    },
  };
}

function listDefects(defects: Readonly<Record<string, { readonly what: string }>>) {
  return Object.entries(defects).map(([name, { what }]) => ({ name, what }));
}

type Recipients = { readonly walleta?: WalletARecipient; readonly walletb?: WalletBRecipient };

/**
 * The last recipient of each wallet: tokens are minted for it unless a request names another one. A
 * recipient that cannot be read is forgotten.
 */
async function openRecipients(path: string) {
  const stored = parseJson(await readFile(path, "utf8").catch(() => ""));
  const fields = new Map(Object.entries(stored ?? {}));
  const walleta = readFields(fields.get("walleta"), walletARecipientFields);
  const walletb = readFields(fields.get("walletb"), walletBRecipientFields);
  const last: Recipients = {
    ...(walleta instanceof BadRequest ? {} : { walleta }),
    ...(walletb instanceof BadRequest ? {} : { walletb }),
  };
  let written = Promise.resolve();

  /** Stores a recipient. There is one write at a time, so that the last recipient stays. */
  function store(recipient: Recipients): Promise<void> {
    Object.assign(last, recipient);
    const write = () => writeAtomically(path, `${JSON.stringify(last, null, 2)}\n`, "owner");
    written = written.then(write, write);
    return written;
  }
  return { last, store };
}
