/** The addresses of the wallets. Tokens are answered as minted, because their bytes are signed. */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  bodyBytesMax,
  parseJson,
  type Query,
  type Reply,
  readBody,
  sendJson,
} from "../http-exchange.ts";
import { MintFault, whole } from "./members.ts";
import { walletADefectTable } from "./mint-walleta.ts";
import { walletBDefectTable } from "./mint-walletb.ts";
import type { Remembered } from "./recipients.ts";
import type { WalletDesk } from "./wallet-side.ts";
import { merchantIdentifier, walletAVersions } from "./walleta-options.ts";
import { defaultMerchantIdentifier } from "./walleta-recipient.ts";
import { authMethods, walletBVersions } from "./walletb-options.ts";

export function makeWalletRoutes(desk: WalletDesk): ReadonlyMap<string, Reply> {
  const mintA = async (body: string) => asJson(await desk.mintA(parseJson(body)));
  const mintB = async (body: string) => asJson(await desk.mintB(parseJson(body)));

  // biome-ignore format: a table
  return new Map<string, Reply>([
    ["GET /wallets",                      (_, response) => sendJson(response, 200, listWallets(desk.recipients.current))],
    ["POST /wallets/walleta",             answer(mintA)],
    ["POST /wallets/walleta/certificate", answer((body, query) => certify(body, query, desk))],
    ["POST /wallets/walletb",             answer(mintB)],
    ["POST /wallets/walletb/recipient",   answer((body) => setRecipient(body, desk))],
  ]);
}

type Answer = { readonly type: string; readonly text: string };
type MakeAnswer = (body: string, query: Query) => Promise<Answer | MintFault>;

function answer(make: MakeAnswer): Reply {
  return async (request: IncomingMessage, response: ServerResponse, query: Query) => {
    const body = await readBody(request, bodyBytesMax);
    if (body === undefined) return sendJson(response, 413, { error: "The body is too long." });
    const made = await make(body, query);
    if (made instanceof MintFault) return sendJson(response, 400, { error: made.sentence });
    response.writeHead(200, { "content-type": made.type }).end(made.text);
  };
}

function asJson(text: string | MintFault): Answer | MintFault {
  return text instanceof MintFault ? text : { type: "application/json", text };
}

const certificateDays = whole(1, 3650, "a whole number from 1 to 3650");
const certificateDaysDefault = "760";

async function certify(body: string, query: Query, desk: WalletDesk): Promise<Answer | MintFault> {
  const identifier = merchantIdentifier.read(
    query.get("merchantIdentifier") ?? defaultMerchantIdentifier,
  );
  if (identifier === undefined) {
    return new MintFault(`"merchantIdentifier" takes ${merchantIdentifier.takes}.`);
  }
  const days = certificateDays.read(query.get("days") ?? certificateDaysDefault);
  if (days === undefined) return new MintFault(`"days" takes ${certificateDays.takes}.`);
  const text = await desk.certify(body, identifier, days);
  return text instanceof MintFault ? text : { type: "application/x-pem-file", text };
}

async function setRecipient(body: string, desk: WalletDesk): Promise<Answer | MintFault> {
  const recipient = await desk.setRecipient(parseJson(body));
  return recipient instanceof MintFault ? recipient : asJson(JSON.stringify(recipient));
}

/** What can be minted, and for whom it is when nobody is named. */
function listWallets({ walleta, walletb }: Remembered) {
  return {
    walleta: {
      mint: "POST /wallets/walleta",
      versions: walletAVersions,
      defects: listDefects(walletADefectTable),
      recipient: walleta?.merchantIdentifier ?? null,
    },
    walletb: {
      mint: "POST /wallets/walletb",
      versions: walletBVersions,
      authMethods,
      defects: listDefects(walletBDefectTable),
      recipient: walletb?.recipientId ?? null,
      gatewayMerchantId: walletb?.gatewayMerchantId ?? null,
    },
  };
}

function listDefects(table: Readonly<Record<string, { readonly what: string }>>) {
  return Object.entries(table).map(([name, { what }]) => ({ name, what }));
}
