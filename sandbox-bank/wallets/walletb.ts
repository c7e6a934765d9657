/** Mints payment tokens of walletb: genuine ones, or ones with exactly the requested defect. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  distortToken,
  type Minting,
  mintToken,
  type Payload,
  readPoint,
  type Version,
  writePayload,
  writeRootKeys,
} from "@tollgate/protocols/walletb";
import type { BankContext } from "../bank-context.ts";
import { writeAtomically } from "../certificates/chains.ts";
import * as field from "../fields.ts";
import { BadRequest } from "../http.ts";
import { eciFor } from "../issuer.ts";

/** The difference from a genuine token. */
type Defect = {
  readonly what: string;
  readonly minting?: (genuine: Minting, nowMs: number) => Partial<Minting>;
  readonly payload?: (nowMs: number) => Partial<Payload>;
  /** Whether the token is changed after it was signed. */
  readonly isTampered?: true;
};

const minuteMs = 60_000;

export const walletBDefects = {
  "expired": {
    what: "the message expired a minute ago",
    payload: (nowMs) => ({ messageExpiration: nowMs - minuteMs }),
  },
  "expired-intermediate": {
    what: "the intermediate key expired a minute ago",
    minting: ({ intermediate }, nowMs) => {
      return { intermediate: { ...intermediate, keyExpiration: nowMs - minuteMs } };
    },
  },
  "wrong-recipient": {
    what: "signed for another recipient id",
    minting: () => ({ recipientId: "merchant:another" }),
  },
  "tampered": { what: "changed after it was signed", isTampered: true },
  "wrong-root": {
    what: "signed under another root key",
    minting: () => ({ rootKey: makePrivateKey() }),
  },
  "other-merchant": {
    what: "genuine, but for another merchant of the gateway",
    payload: () => ({ gatewayMerchantId: "another-merchant" }),
  },
  "wrong-mac": {
    what: "the tag is wrong, and signed so",
    minting: () => ({
      distort(message) {
        const tag = Buffer.from(message.tag, "base64");
        tag[0] = (tag[0] ?? 0) ^ 1;
        return { ...message, tag: tag.toString("base64") };
      },
    }),
  },
} satisfies Readonly<Record<string, Defect>>;

export type WalletBDefect = keyof typeof walletBDefects;

const publicKey: field.Field<string> = {
  takes: "a point of P-256 in base64: 04, x and y, 65 bytes in all",
  read: (value) => (typeof value === "string" && readKey(value) ? value : undefined),
};

/** The recipient for which tokens are encrypted. */
export const walletBRecipientFields = {
  required: {
    publicKey,
    recipientId: field.text(/^(?:merchant|gateway):[!-~]{1,100}$/, "merchant:<id> or gateway:<id>"),
  },
  optional: { gatewayMerchantId: field.identifier },
} satisfies field.FieldTable;

export type WalletBRecipient = field.FieldValues<typeof walletBRecipientFields>;

export const walletBVersions: readonly Version[] = ["ECv2", "ECv1"];
export const authMethods = ["PAN_ONLY", "CRYPTOGRAM_3DS"] as const;

/**
 * The fields of `POST /wallets/walletb`. The recipient defaults to the one that was set last, the
 * version to ECv2 and the method to PAN_ONLY. Amount and currency are checked, but are not part of
 * the token.
 */
const walletBFields = {
  required: field.cardFields,
  optional: {
    ...field.paymentFields,
    authMethod: field.oneOf(authMethods),
    eciIndicator: field.eciIndicator,
    version: field.oneOf(walletBVersions),
    ...walletBRecipientFields.required,
    ...walletBRecipientFields.optional,
    messageId: field.identifier,
    messageExpiration: field.timestamp,
    // The keys are the names of the table's own rows, so the type holds.
    defect: field.oneOf(Object.keys(walletBDefects) as WalletBDefect[]),
  },
} satisfies field.FieldTable;

export type WalletBOptions = field.FieldValues<typeof walletBFields>;

type MintContext = Pick<BankContext, "authenticationValues" | "clock"> & {
  readonly keys: WalletBKeys;
  readonly last: WalletBRecipient | undefined;
};

export function mintWalletB(body: unknown, context: MintContext): string | BadRequest {
  const options = field.readFields(body, walletBFields);
  if (options instanceof BadRequest) return options;
  const { keys, last, clock } = context;
  const { ms: nowMs } = clock.now();
  const { version = "ECv2", defect: name, recipientId = last?.recipientId } = options;
  const recipientPublicKey = readKey(options.publicKey ?? last?.publicKey ?? "");
  if (recipientId === undefined || recipientPublicKey === undefined) {
    const remedy = 'set one at /wallets/walletb/recipient, or give "recipientId" and "publicKey"';
    return new BadRequest(`No recipient is known: ${remedy}.`);
  }
  if (name === "expired-intermediate" && version === "ECv1") {
    return new BadRequest("Tokens of ECv1 have no intermediate key that could be expired.");
  }
  const defect: Defect | undefined = name && walletBDefects[name];
  const payload = { ...makePayload(options, context), ...defect?.payload?.(nowMs) };
  const { rootKey, intermediateKey: privateKey } = keys;
  const intermediate = { privateKey, keyExpiration: nowMs + 30 * 24 * 60 * minuteMs };
  const minting = { version, rootKey, intermediate, recipientId, recipientPublicKey };
  const token = mintToken(writePayload(payload, version), {
    ...minting,
    ...defect?.minting?.(minting, nowMs),
  });
  return defect?.isTampered ? distortToken(token, "signedMessage") : token;
}

function makePayload(options: WalletBOptions, context: MintContext): Payload {
  const { authenticationValues, last, clock } = context;
  const { pan, expirationMonth, expirationYear, authMethod = "PAN_ONLY" } = options;
  const { gatewayMerchantId = last?.gatewayMerchantId } = options;
  const eci = eciFor(pan, "Y");
  const proof = {
    cryptogram: authenticationValues.make(pan, "wallet"),
    // This wallet leaves the indicator empty for networks whose ECI is 02.
    eciIndicator: options.eciIndicator ?? (eci === "02" ? "" : eci),
  };
  return {
    messageId: options.messageId ?? randomUUID(),
    messageExpiration: options.messageExpiration ?? clock.now().ms + 60 * minuteMs,
    ...(gatewayMerchantId === undefined ? {} : { gatewayMerchantId }),
    pan,
    expirationMonth,
    expirationYear,
    authMethod,
    ...(authMethod === "PAN_ONLY" ? {} : proof),
    assuranceDetails: {
      cardHolderAuthenticated: authMethod === "CRYPTOGRAM_3DS",
      accountVerified: true,
    },
  };
}

/** Reads an uncompressed point of P-256 in base64, which is how merchants register a key. */
function readKey(base64: string): KeyObject | undefined {
  const point = Buffer.from(base64, "base64");
  // The point is encoded again, because Node's base64 decoder ignores invalid characters.
  return point.toString("base64") === base64 ? readPoint(point) : undefined;
}

type WalletBKeys = Awaited<ReturnType<typeof openWalletBKeys>>;

/**
 * Opens the keys and writes the list of root keys, which gateways trust. The private key stays with
 * the sandbox bank, and the intermediate key is a new one for every run.
 */
export async function openWalletBKeys(folder: string) {
  const path = join(folder, "walletb-root.key");
  const stored = await readPrivateKey(path);
  const rootKey = stored ?? makePrivateKey();
  const pem = rootKey.export({ type: "pkcs8", format: "pem" }).toString();
  if (stored === undefined) await writeAtomically(path, pem, "owner");

  const key = createPublicKey(rootKey);
  const keyExpiration = Date.UTC(2099, 0);
  const list = writeRootKeys(
    walletBVersions.map((protocolVersion) => ({ protocolVersion, key, keyExpiration })),
  );
  // The keys are marked, so that a copy of the list is not mistaken for the wallet's own.
  const { keys } = JSON.parse(list) as { readonly keys: readonly object[] };
  const marked = JSON.stringify({ keys: keys.map((each) => ({ ...each, sandbox: true })) });
  await writeAtomically(join(folder, "walletb-root-keys.json"), marked, "everyone");
  return { rootKey, intermediateKey: makePrivateKey() };
}

/** Returns undefined if the file is missing or damaged. */
async function readPrivateKey(path: string): Promise<KeyObject | undefined> {
  try {
    const key = createPrivateKey(await readFile(path, "utf8"));
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : undefined;
  } catch {
    return undefined;
  }
}

function makePrivateKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}
