/**
 * The 3-D Secure part of the sandbox bank: the directory server on a port of its own, and the ACS,
 * whose pages are on the HTTP port.
 */
import { answerChallenge, runMethod, showChallenge } from "./access-control-server/challenge.ts";
import { makeErrorPage, type Page, sendPage } from "./access-control-server/pages.ts";
import { answerPaReq, showPaReq } from "./access-control-server/pareq.ts";
import { type BankContext, ExpiringMap } from "./bank-context.ts";
import type { Identities } from "./certificates/chains.ts";
import { makeDirectoryServer } from "./directory-server/directory-server.ts";
import { makeResultSender } from "./directory-server/result-sender.ts";
import { type Address, type Route, type Routes, readBody } from "./http.ts";
import { ThreeDsMessages } from "./message-log.ts";
import { acsPaths, type ThreeDsContext } from "./threeds-context.ts";

export type ThreeDs = ReturnType<typeof openThreeDs>;

export function openThreeDs(
  bank: BankContext,
  identities: Identities,
  address: Address,
  acsUrl: () => string,
) {
  const { clock } = bank;
  const messages = new ThreeDsMessages(clock);
  const context: ThreeDsContext = {
    ...bank,
    messages,
    paResIdentity: identities.paRes,
    results: makeResultSender(identities.directory, messages, bank),
    challenges: new ExpiringMap(clock),
    accounts: new ExpiringMap(clock),
    acsUrl,
    directoryUrl: () => `https://${address.host}:${directory.listener.port}/emv3ds`,
  };
  const directory = makeDirectoryServer(identities.directory, address, context);
  const close = () => {
    context.results.close();
    messages.close();
  };
  return { directory, messages, routes: makeAcsRoutes(context), close };
}

type ShowPage = (form: URLSearchParams, context: ThreeDsContext) => Page | Promise<Page>;

const formBytesMax = 262_144;

function makeAcsRoutes(context: ThreeDsContext): Routes {
  const takeForm = (show: ShowPage): Route => {
    return async (request, response) => {
      const body = await readBody(request, formBytesMax);
      if (body === undefined) sendPage(response, makeErrorPage(413, "This form is too long."));
      else sendPage(response, await show(new URLSearchParams(body), context));
    };
  };
  return new Map([
    [`POST ${acsPaths.method}`, takeForm(runMethod)],
    [`POST ${acsPaths.challenge}`, takeForm(showChallenge)],
    [`POST ${acsPaths.challengeAnswer}`, takeForm(answerChallenge)],
    [`POST ${acsPaths.paReq}`, takeForm(showPaReq)],
    [`POST ${acsPaths.paReqAnswer}`, takeForm(answerPaReq)],
  ]);
}
