/**
 * A wallet's payment data as it is sent: JSON, base64-encoded once. Only that is judged before the
 * order is acknowledged; what it says is judged in processing.
 */
import { Failure } from "../values/failure.ts";
import { Secret } from "../values/secret.ts";

type Sent = {
  readonly payment_data?: string | undefined;
  readonly payment_data_type?: string | undefined;
  readonly [other: string]: unknown;
};

const cardFields = ["credit_card_number", "cardNumber", "expire_month", "expire_year", "cvv2"];

export function walletFaults(request: Sent): readonly Failure[] {
  const { payment_data: sent, payment_data_type: type } = request;
  const beside = cardFields.filter((name) => request[name] !== undefined);
  const faults = beside.map((name) => invalid(`${name}: not beside payment_data`));
  if (type === undefined) faults.unshift(new Failure("missing_parameter", "payment_data_type"));
  if (sent === undefined) return [new Failure("missing_parameter", "payment_data"), ...faults];
  const fault = faultOf(decode(sent));
  return fault === undefined ? faults : [invalid(`payment_data: ${fault}`), ...faults];
}

/** The JSON text; of a request that has passed the rules. */
export function readWalletText(sent: string): Secret<string> {
  return new Secret(decode(sent) ?? "");
}

/** Both alphabets, padded or not; a `+` that a form made a space is restored. */
function decode(sent: string): string | undefined {
  const text = sent.replaceAll(" ", "+").replaceAll(/[\r\n\t]/g, "");
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function faultOf(text: string | undefined): string | undefined {
  if (text === undefined) return "not base64 of text";
  if (isJson(text)) return undefined;
  const inner = decode(text);
  return inner !== undefined && isJson(inner) ? "base64-encoded twice" : "not JSON";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function invalid(detail: string): Failure {
  return new Failure("invalid_parameter", detail);
}
