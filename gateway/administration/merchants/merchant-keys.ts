/**
 * A merchant's keys: the control key of its checksums, and the public keys of its OAuth signatures.
 * After a renewal both control keys are accepted until the operator drops the old one, and the
 * gateway signs with the new one.
 */
import { createPublicKey, hash, type KeyObject, X509Certificate } from "node:crypto";
import type { Merchant } from "../../orders/merchant.ts";
import { controlKeyContext, findControlKeyUse } from "../../storage/configuration/configuration.ts";
import { Problem } from "../../values/problem.ts";
import { Secret } from "../../values/secret.ts";
import { type Action, action } from "../action.ts";
import { option, required, word } from "../field.ts";
import { login, onMerchant, ownerByLogin } from "../find.ts";
import { pemOf } from "../readers.ts";
import { openVault, Report, readContent, type Session } from "../session.ts";
import { makeControlKey } from "./merchant-set.ts";

const keyForm = /^[!-~]{16,128}$/;
const bitsMin = 2048;

export const merchantKeyActions: readonly Action[] = [
  action("change", "manage_keys", {
    name: "merchant control-key renew",
    does: [
      "make a new key and print it; the old one counts until it is dropped",
      "einen neuen Schlüssel anlegen und zeigen; der alte gilt, bis er verworfen wird",
    ],
    findOwner: ownerByLogin,
    fields: { login },
    perform: onMerchant(async (merchant, session) => {
      const controlKey = makeControlKey();
      const problem = await replaceKey("renew", session, merchant, controlKey);
      return problem ?? { login: merchant.login, controlKey };
    }),
  }),
  action("change", "manage_keys", {
    name: "merchant control-key set",
    does: [
      "set the key on standard input; the one before it counts until it is dropped",
      "den Schlüssel vorgeben; der bisherige gilt, bis er verworfen wird",
    ],
    findOwner: ownerByLogin,
    inFile: "beside",
    fields: { login, key: required("secret", "", ["the control key", "der Kontrollschlüssel"]) },
    perform: onMerchant(async (merchant, session, given) => {
      const key = (await readContent(given.key)).trim();
      if (!isControlKey(key)) {
        return new Problem("A control key is 16 to 128 printable characters without spaces.");
      }
      const problem = await replaceKey("set", session, merchant, key);
      return problem ?? { login: merchant.login, "control key": "set" };
    }),
  }),
  action("change", "manage_keys", {
    name: "merchant control-key drop",
    does: [
      "drop the old key: requests that are signed with it are refused",
      "den alten Schlüssel verwerfen: mit ihm signierte Anfragen werden abgelehnt",
    ],
    findOwner: ownerByLogin,
    fields: { login },
    perform: onMerchant(async ({ id, login: name, oldControlKey }, session) => {
      if (oldControlKey === undefined) return new Problem(`The merchant ${name} has no old key.`);
      const { oldUsed } = await findControlKeyUse(session.database.query, id);
      await session.administration.dropOldControlKey(id);
      return { login: name, "old key": "dropped", "last used": oldUsed ?? "never" };
    }),
  }),
  action("change", "manage_keys", {
    name: "merchant key add",
    does: [
      "add an RSA public key or certificate; the others stay valid",
      "einen öffentlichen RSA-Schlüssel oder ein Zertifikat hinzufügen; die anderen gelten weiter",
    ],
    findOwner: ownerByLogin,
    inFile: "beside",
    fields: {
      login,
      file: word("file", "file.pem", [
        "the key or certificate, in PEM",
        "der Schlüssel oder das Zertifikat, als PEM",
      ]),
      name: option("text", "text", [
        "to distinguish it from the others",
        "um ihn von den anderen zu unterscheiden",
      ]),
    },
    perform: onMerchant(
      async ({ id: merchantId, login: owner, oauthKeys }, session, { file: source, name = "" }) => {
        const text = await readContent(source).catch(() => undefined);
        if (text === undefined) return new Problem(`${source.name} cannot be read.`);
        const key = readPublicKey(text);
        if (key instanceof Problem) return key;
        const known = oauthKeys.find(({ publicKey }) => publicKey.equals(key));
        if (known !== undefined) {
          return new Problem(`${owner} has this key already: it is key ${known.id}.`);
        }
        const id = await session.administration.addMerchantKey(merchantId, name, pemOf(key));
        return { login: owner, ...describeKey(id, name, key) };
      },
    ),
  }),
  action("look", "see_configuration", {
    name: "merchant key list",
    does: ["list the accepted keys"],
    commandLineOnly: "the portal lists keys on the screen of their merchant",
    fields: { login },
    perform: onMerchant(({ login: owner, oauthKeys }) => {
      const keys = oauthKeys.map(({ id, name, publicKey }) => describeKey(id, name, publicKey));
      return keys.length > 0 ? keys : new Report(keys, `${owner} has no key.`);
    }),
  }),
  action("change", "manage_keys", {
    name: "merchant key remove",
    does: ["no longer accept a key", "einen Schlüssel nicht mehr annehmen"],
    findOwner: ownerByLogin,
    fields: {
      login,
      key: word("text", "key", ["the number of the key", "die Nummer des Schlüssels"]),
    },
    perform: onMerchant(
      async ({ id: merchantId, login: owner, oauthKeys }, session, { key: id }) => {
        if (!oauthKeys.some((key) => key.id === id))
          return new Problem(`${owner} has no key ${id}.`);
        await session.administration.removeMerchantKey(merchantId, id);
        return { login: owner, removed: id, left: oauthKeys.length - 1 };
      },
    ),
  }),
];

export function isControlKey(text: string): boolean {
  return keyForm.test(text);
}

/** The old key stays valid until the operator drops it. */
export async function replaceKey(
  how: "renew" | "set",
  session: Session,
  merchant: Merchant,
  key: string,
): Promise<Problem | undefined> {
  const { id, login: name, oldControlKey } = merchant;
  if (oldControlKey !== undefined) {
    return new Problem(`The merchant ${name} has an old control key: drop it first.`);
  }
  const { sealSecret } = await openVault(session);
  const sealed = sealSecret(new Secret(key), controlKeyContext(name));
  await session.administration.putControlKey(how, id, sealed);
  return undefined;
}

/** `sha256` is what `openssl pkey -pubin -outform DER | sha256sum` prints. */
function describeKey(id: string, name: string, key: KeyObject) {
  const der = key.export({ format: "der", type: "spki" });
  return { key: id, name, bits: bitsOf(key), sha256: hash("sha256", der) };
}

/** Reads a public key from PEM: SPKI, PKCS #1 or an X.509 certificate. A private key is refused. */
export function readPublicKey(text: string): KeyObject | Problem {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    return new Problem(
      "This is a private key, which only the merchant should have. Make the public one from it " +
        "with `openssl rsa -in <file> -pubout`, and consider whether anybody else has seen it.",
    );
  }
  const key = parseKey(text);
  if (key === undefined) {
    return new Problem("This is neither a public key nor a certificate in PEM.");
  }
  if (key.asymmetricKeyType !== "rsa") return new Problem("This is no RSA key.");
  if (bitsOf(key) >= bitsMin) return key;
  return new Problem(`The key has ${bitsOf(key)} bits: it must have at least ${bitsMin}.`);
}

function parseKey(text: string): KeyObject | undefined {
  try {
    const isCertificate = text.includes("-----BEGIN CERTIFICATE-----");
    return isCertificate ? new X509Certificate(text).publicKey : createPublicKey(text);
  } catch {
    return undefined;
  }
}

function bitsOf(key: KeyObject): number {
  return key.asymmetricKeyDetails?.modulusLength ?? 0;
}
