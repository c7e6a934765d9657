/** A challenge from AReq to the last form, as gateway and browser perform it. */
import assert from "node:assert/strict";
import {
  decodeFormValue,
  type Emv3dsMessage,
  encodeFormValue,
  MessageFault,
  type ProtocolVersion,
  readMessage,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import { type BrowserPage, type Form, post } from "./browser.ts";
import { makeAReq } from "./requests.ts";
import type { ThreeDsServer } from "./threeds-server.ts";

type Asked = {
  readonly transactionId: string;
  readonly acsUrl: string;
  readonly creq: string;
};

export async function askForChallenge(
  server: ThreeDsServer,
  card: string,
  version: ProtocolVersion = "2.2.0",
  more: object = {},
): Promise<Asked> {
  const ares = await server.ask(makeAReq(card, server.resultUrl, version, more));
  assert.equal(ares["transStatus"], "C");
  const { messageVersion, threeDSServerTransID, acsTransID, acsURL } = ares;
  const ids = { threeDSServerTransID, acsTransID };
  const creq: Emv3dsMessage = {
    messageType: "CReq",
    messageVersion,
    ...ids,
    challengeWindowSize: "05",
  };
  return {
    transactionId: String(threeDSServerTransID),
    acsUrl: String(acsURL),
    creq: encodeFormValue(writeMessage(creq)),
  };
}

export const sessionText = "c2Vzc2lvbiBvZiB0aGUgbWVyY2hhbnQ";

export function openChallenge({ acsUrl, creq }: Asked): Promise<BrowserPage> {
  return post(acsUrl, { creq, threeDSSessionData: sessionText });
}

export type Pressed = { readonly code?: string; readonly action?: string };

/** Answers a page and returns the page that follows. */
export function answer(page: BrowserPage, pressed: Pressed = {}): Promise<BrowserPage> {
  const { code = "1234", action = "confirm" } = pressed;
  const form = formOf(page);
  assert.deepEqual(
    form.buttons.map(({ value }) => value),
    ["confirm", "fail", "cancel"],
  );
  return post(form.action, { ...form.fields, code, action });
}

export function formOf({ status, html, forms: [form] }: BrowserPage): Form {
  assert.equal(status, 200, html);
  return form ?? assert.fail(`no form in:\n${html}`);
}

export function readCRes(form: Form): Emv3dsMessage {
  const text = decodeFormValue(form.fields["cres"] ?? "");
  const cres = text instanceof MessageFault ? text : readMessage(text, { types: ["CRes"] });
  return cres instanceof MessageFault ? assert.fail(`${cres.code} ${cres.detail}`) : cres;
}
