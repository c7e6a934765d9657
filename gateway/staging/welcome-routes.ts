/**
 * The page at `/` and the form on it. Staging only: it shows a merchant's key to whoever comes, and
 * in production nothing of this is there.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { FormFault, parseForm } from "@tollgate/protocols/form";
import type { FastifyInstance, FastifyReply } from "fastify";
import { isFromOwnPage, pageHeaders } from "../pages/design.ts";
import type { Html } from "../values/html.ts";
import type { Clock } from "../values/time.ts";
import { TryRefusal, trySale } from "./try-sale.ts";
import { renderUnprepared, renderWelcome, type Visit } from "./welcome.ts";
import type { Chosen, WelcomeFacts } from "./welcome-facts.ts";

export type WelcomeOptions = {
  /** Nothing before there is a demonstration merchant. */
  readonly findFacts: () => Promise<WelcomeFacts | undefined>;
  readonly clock: Clock;
};

const headers = pageHeaders({ referrer: "same-origin" });

export function addWelcomeRoutes(
  server: FastifyInstance,
  { findFacts, clock }: WelcomeOptions,
): void {
  server.get("/", async (request, reply) => {
    const wanted = URL.parse(request.url, "http://gateway")?.searchParams.get("order");
    return show(reply, { wanted: wanted ?? undefined });
  });

  server.post("/try", async (request, reply) => {
    if (!isFromOwnPage(request.headers)) {
      return reply.code(403).type("text/plain;charset=utf-8").send("only from the page at /\n");
    }
    const facts = await findFacts();
    if (facts === undefined) return show(reply, {});
    const chosen = readChosen(request.body);
    const clientOrderId = newOrderId("try");
    const place = { address: addressOf(request.socket), clientOrderId };
    const refusal = await trySale(facts, chosen, place);
    if (refusal instanceof TryRefusal) {
      return show(reply.code(422), { refused: { sentence: refusal.sentence, chosen } });
    }
    return reply.redirect(`/?order=${encodeURIComponent(clientOrderId)}`, 303);
  });

  async function show(reply: FastifyReply, visit: Partial<Visit>): Promise<FastifyReply> {
    const facts = await findFacts();
    if (facts === undefined) return send(reply, renderUnprepared());
    const now = clock.now();
    return send(reply, renderWelcome(facts, { now, newOrderId: newOrderId("example"), ...visit }));
  }
}

function send(reply: FastifyReply, page: Html): FastifyReply {
  return reply.headers(headers).send(page.text);
}

/** Short enough to be read out, and never the same again. */
function newOrderId(word: string): string {
  return `${word}-${randomBytes(5).toString("hex")}`;
}

/** The address that the browser reached leads back to this machine whatever stands before it. */
function addressOf({ localAddress = "127.0.0.1", localPort = 0 }: Socket): string {
  const host = localAddress.includes(":") ? `[${localAddress}]` : localAddress;
  return `http://${host}:${localPort}`;
}

function readChosen(body: unknown): Chosen {
  const form = body instanceof Uint8Array ? parseForm(body) : { pairs: [] };
  const sent = new Map(form instanceof FormFault ? [] : form.pairs);
  const get = (name: string) => sent.get(name)?.trim() ?? "";
  return { card: get("card"), amount: get("amount"), endpoint: get("endpoint") };
}
