/** A cardholder's request for a page: the language that he reads, and how he is shown it. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Look } from "../design.ts";
import { type CardholderPage, sendPage } from "./cardholder-page.ts";
import { speak } from "./texts.ts";

type Asked = Pick<FastifyRequest, "headers">;

export type Visit = ReturnType<typeof makeVisit>;

export function makeVisit(look: Look) {
  return (request: Asked, reply: FastifyReply) => {
    const { language, texts } = speak(request.headers["accept-language"]);
    const show = (page: CardholderPage) => sendPage(reply, page, { language, look });
    /**
     * Issuers come back inside of the frame that they were opened in, be it ours or a shop's. There
     * the page stays, because the one that it leads to must not be shown in a frame.
     */
    const showFramed = ({ refresh, ...page }: CardholderPage) => {
      const onward = refresh !== undefined && !isFramed(request) ? { refresh } : {};
      return show({ ...page, ...onward, framedBy: "anybody" });
    };
    return { texts, show, showFramed };
  };
}

/** Browsers tell where their answer is going to be shown. */
export function isFramed({ headers }: Asked): boolean {
  return /^i?frame$/.test(String(headers["sec-fetch-dest"]));
}
