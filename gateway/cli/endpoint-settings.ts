/** The options of `gw endpoint create` and `gw endpoint set`, read into an endpoint's settings. */
import type { EndpointSettings } from "../orders/merchant.ts";
import type { Currency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import {
  applyChange,
  changeOf,
  checkLimits,
  mergeChanges,
  orNone,
  type Read,
  readFee,
  readOneOf,
  readSwitch,
  readText,
} from "./option-values.ts";

export type EndpointOptions = {
  readonly "3ds"?: string;
  readonly min?: string;
  readonly max?: string;
  readonly descriptor?: string;
  readonly optional?: string;
  readonly fee?: string;
  readonly partialApprovals?: string;
  readonly oauthOnly?: string;
  readonly callbacks?: string;
};

const policies = ["off", "when_possible", "always"] as const;
const waivable = ["email", "phone", "address1", "city", "zip_code", "country"];

const readPolicy = readOneOf("--3ds", policies);
const readDescriptor = readText("--descriptor", /^[ -~]{1,25}$/, "1 to 25 printable characters");
const readPartial = readSwitch("--partial-approvals");
const readCallbacks = readOneOf("--callbacks", ["GET", "POST"] as const);
const readOAuthOnly = readSwitch("--oauth-only");

/** Only what is given changes. */
export function readEndpointSettings(
  options: EndpointOptions,
  currency: Currency,
  known: EndpointSettings = { threeDSecure: "off" },
): EndpointSettings | Problem {
  const readLimit = orNone(readAmountIn(currency));
  const change = mergeChanges<EndpointSettings>([
    changeOf("threeDSecure", options["3ds"], readPolicy),
    changeOf("amountMin", options.min, readLimit),
    changeOf("amountMax", options.max, readLimit),
    changeOf("descriptor", options.descriptor, orNone(readDescriptor)),
    changeOf("optionalFields", options.optional, orNone(readWaived)),
    changeOf("fee", options.fee, orNone(readFee)),
    changeOf("acceptsPartialApprovals", options.partialApprovals, readPartial),
    changeOf("oauthOnly", options.oauthOnly, readOAuthOnly),
    changeOf("callbackMethod", options.callbacks, readCallbacks),
  ]);
  return change instanceof Problem ? change : checkLimits(applyChange(known, change));
}

/** Kept in minor units. */
function readAmountIn(currency: Currency): Read<string> {
  return (text) => {
    const money = parseAmount(text, currency);
    if (money === undefined) return new Problem(`${text} is no amount in ${currency.code}.`);
    return String(money.minor);
  };
}

function readWaived(text: string): readonly string[] | Problem {
  const fields = text.split(",").map((field) => field.trim());
  if (fields.every((field) => waivable.includes(field))) return fields;
  return new Problem(`Only these fields can be made optional: ${waivable.join(", ")}.`);
}
