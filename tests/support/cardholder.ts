/**
 * The cardholder's browser in scenario tests. It opens the bank's pages by plain requests, fills in
 * their forms and presses their buttons. It returns the last form, which goes back to the merchant,
 * to the test instead of posting it.
 */
import assert from "node:assert/strict";
import { type Form, post, readForms } from "../../sandbox-bank/testing/browser.ts";

export { readForms };

type Action = "confirm" | "fail" | "cancel";

export type ChallengeStatus = {
  readonly "tds-creq-form-acs-url"?: string | undefined;
  readonly "tds-creq-form-creq"?: string | undefined;
};

export type PareqStatus = {
  readonly "tds-pareq-form-acs-url"?: string | undefined;
  readonly "tds-pareq-form-pareq"?: string | undefined;
  readonly "tds-pareq-form-md"?: string | undefined;
};

export type ChallengeAnswer = { readonly code?: string; readonly action?: Action };

const rightCode = "1234";

/** Passes the challenge with the correct code. */
export function passChallenge(status: ChallengeStatus) {
  return answerChallenge(status);
}

export async function answerChallenge(
  status: ChallengeStatus,
  { code = rightCode, action = "confirm" }: ChallengeAnswer = {},
): Promise<{ readonly cres: string; readonly postTo: string }> {
  const creq = need(status, "tds-creq-form-creq");
  const page = await open(need(status, "tds-creq-form-acs-url"), { creq });
  const { action: postTo, fields } = await press(page, { code, action });
  return { cres: need(fields, "cres"), postTo };
}

export async function answerPareq(
  status: PareqStatus,
  termUrl: string,
  { code = rightCode, action = "confirm" }: ChallengeAnswer = {},
): Promise<{ readonly paRes: string; readonly md: string; readonly postTo: string }> {
  const page = await open(need(status, "tds-pareq-form-acs-url"), {
    PaReq: need(status, "tds-pareq-form-pareq"),
    TermUrl: termUrl,
    MD: need(status, "tds-pareq-form-md"),
  });
  const { action: postTo, fields } = await press(page, { code, action });
  return { paRes: need(fields, "PaRes"), md: need(fields, "MD"), postTo };
}

/** Runs the hidden frame of the 3DS Method. */
export async function runMethod(
  methodUrl: string,
  transactionId: string,
  notificationUrl: string,
): Promise<{ readonly threeDSMethodData: string; readonly postTo: string }> {
  const asked = {
    threeDSServerTransID: transactionId,
    threeDSMethodNotificationURL: notificationUrl,
  };
  const packed = Buffer.from(JSON.stringify(asked)).toString("base64url");
  const { action: postTo, fields } = await open(methodUrl, { threeDSMethodData: packed });
  return { threeDSMethodData: need(fields, "threeDSMethodData"), postTo };
}

/** Posts the form, and returns the only form of the page that follows. */
async function open(url: string, sent: Readonly<Record<string, string>>): Promise<Form> {
  const { status, html, forms } = await post(url, sent);
  const [form, ...others] = forms;
  assert.equal(status, 200, html);
  assert.ok(form !== undefined && others.length === 0, `one form was expected in:\n${html}`);
  return form;
}

function press(form: Form, { code, action }: Required<ChallengeAnswer>): Promise<Form> {
  assert.ok("code" in form.fields, "the page asks for no code");
  const button = form.buttons.find(({ name, value }) => name === "action" && value === action);
  assert.ok(button !== undefined, `the page has no button to ${action}`);
  return open(form.action, { ...form.fields, code, action });
}

function need<Name extends string>(
  fields: { readonly [N in Name]?: string | undefined },
  name: Name,
) {
  const value = fields[name];
  assert.ok(value !== undefined && value !== "", `${name} is missing`);
  return value;
}
