/** The addresses of the ACS, as the cardholder's browser reaches them. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Reply, readBody } from "../http-exchange.ts";
import { answerChallenge, type ChallengeDesk, showChallenge } from "./challenge.ts";
import { runMethod } from "./method.ts";
import { type Page, sendPage } from "./pages/page.ts";
import { makeRefusalPage } from "./pages/passing-pages.ts";
import { answerPaReq, type PaReqDesk, showPaReq } from "./pareq.ts";

type ShowPage = (form: URLSearchParams) => Page | Promise<Page>;

const formBytesMax = 262_144;

export const acsPaths = {
  method: "/acs/method",
  challenge: "/acs/challenge",
  paReq: "/acs/pareq",
};

export function makeAcsRoutes(
  desk: ChallengeDesk,
  paReqDesk: PaReqDesk,
): ReadonlyMap<string, Reply> {
  // biome-ignore format: a table
  return new Map<string, Reply>([
    [`POST ${acsPaths.method}`,           takeForm((form) => runMethod(form, desk.messages))],
    [`POST ${acsPaths.challenge}`,        takeForm((form) => showChallenge(form, desk))],
    [`POST ${acsPaths.challenge}/answer`, takeForm((form) => answerChallenge(form, desk))],
    [`POST ${acsPaths.paReq}`,            takeForm((form) => showPaReq(form, paReqDesk))],
    [`POST ${acsPaths.paReq}/answer`,     takeForm((form) => answerPaReq(form, paReqDesk))],
  ]);
}

function takeForm(show: ShowPage): Reply {
  return async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request, formBytesMax);
    const page =
      body === undefined
        ? makeRefusalPage(413, "This form is too long.")
        : await show(new URLSearchParams(body));
    sendPage(response, page);
  };
}
