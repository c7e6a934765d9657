/** The chapter of the index on OAuth, with one request worked out from its fields to its header. */

import {
  makeBaseString,
  normalizeParameters,
  OAuthFault,
  parseOAuthHeader,
} from "@tollgate/protocols/oauth1";
import { settings } from "../../gateway/settings.ts";
import { checksumFields, type Example, signedUrlOf } from "./examples.ts";
import * as sample from "./sample-world.ts";
import { fence, list, mono, numbered, table } from "./text.ts";

export function oauthChapter(examples: readonly Example[]): readonly string[] {
  return [
    "Under `/v4/` a request is signed by OAuth 1.0a (RFC 5849) with the merchant's RSA key, " +
      "instead of by `login` and `control`; both are ignored there when they are sent. Paths, " +
      "parameters, replies and the rules of repeats are otherwise those of v2, and an order " +
      "that one version began the other can ask about. The signature covers every parameter, " +
      "where the checksum covers a few and rests on SHA-1: use v4 where you can. The operator " +
      "can set an endpoint to take nothing else; it then answers v2 as it does a wrong checksum, " +
      "and so does every group that it is in.",
    ...headerParameters(),
    ...steps(),
    ...worked(examples),
  ];
}

function headerParameters(): readonly string[] {
  const seconds = settings.oauthWindowMs.production / 1000;
  return [
    "The request carries an `Authorization` header with the scheme `OAuth` and these parameters, " +
      "each once, values in quotes and percent-encoded:",
    table(
      ["Parameter", "Value"],
      [
        [mono("oauth_consumer_key"), "The merchant login."],
        [
          mono("oauth_nonce"),
          "1 to 128 printable characters, never the same twice: a nonce is accepted once.",
        ],
        [mono("oauth_signature_method"), "`RSA-SHA256`."],
        [
          mono("oauth_timestamp"),
          `Seconds since 1970, at most ${seconds} from the gateway's clock ` +
            `(${mono(settings.oauthWindowMs.name)}).`,
        ],
        [mono("oauth_version"), "`1.0`."],
        [mono("oauth_signature"), "The signature, in base64."],
      ],
    ),
  ];
}

function steps(): readonly string[] {
  return [
    "The signature is made in five steps:",
    numbered(
      "Take all parameters: those of the body as they are sent, those of the query if there is " +
        "one, and those of the header but `oauth_signature` and `realm`.",
      "Percent-encode each name and value as UTF-8: letters, digits and `-._~` stay, everything " +
        "else becomes `%XX` in upper case. A space is `%20` here, although it may be `+` in the " +
        "body.",
      "Sort by encoded name, then by encoded value, and join them as `name=value` with `&`.",
      "Join three parts with `&`, each percent-encoded once more: the method `POST`; the URL " +
        "without its query, as the gateway knows its public address, with scheme and host in " +
        "lower case and without a default port; and the text of step 3.",
      "Sign that text by RSASSA-PKCS1-v1_5 with SHA-256 and encode it in base64.",
    ),
    list(
      "Keys have at least 2048 bits. The operator is given the public key or a certificate, and " +
        "the private key (PKCS#1 or PKCS#8) never leaves the merchant. A merchant can have " +
        "several keys: add the new one, change over, have the old one removed.",
      "Whatever is wrong, the answer is HTTP status 403 with a short page that does not say " +
        "what; the operator's log does. Nothing has happened then.",
      "A request that is sent again, to repeat it or after a lost reply, needs a new nonce, time " +
        "stamp and signature. Its parameters stay as they were.",
    ),
  ];
}

function worked(examples: readonly Example[]): readonly string[] {
  const example = examples.find(({ reply }) => reply.type === "status-response");
  if (example === undefined) throw new Error("No operation answers with a status response.");
  const url = signedUrlOf(example.operation);
  const parameters = example.fields.filter(([name]) => !checksumFields.has(name));
  const header = parseOAuthHeader(example.authorization);
  if (header instanceof OAuthFault) throw new Error(`The example is not signed: ${header.reason}.`);
  const text = makeBaseString({ method: "POST", url, parameters }, header.parameters);
  if (text instanceof OAuthFault) throw new Error(`The example is not signed: ${text.reason}.`);
  const lines = parameters.map(([name, value]) => `  --data-urlencode '${name}=${value}'`);
  return [
    `Worked out for an order status of the merchant ${mono(sample.endpoint.merchant.login)}, ` +
      "with a key that is published here and protects nothing. The text of step 3:",
    fence("text", normalizeParameters([...parameters, ...header.parameters])),
    "The text of step 4, which is signed:",
    fence("text", text),
    "Signed in a shell, with the text in `text` and the key in `key.pem`:",
    fence("sh", "printf '%s' \"$text\" | openssl dgst -sha256 -sign key.pem | base64 -w 0"),
    fence("text", header.signature),
    "The request; at any other moment than the one in it, the gateway denies it:",
    fence(
      "sh",
      [`curl '${url}'`, `  -H 'Authorization: ${example.authorization}'`, ...lines].join(" \\\n"),
    ),
    "The key:",
    fence("text", sample.privateKeyPem.trim()),
  ];
}
