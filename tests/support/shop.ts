/** A shop for tests with a browser: pages of its own origin, and what is brought back to it. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { until } from "./until.ts";
import type { Test } from "./world.ts";

/** A form that a browser has posted to the shop. */
export type Arrival = {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
};

export type Shop = {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** The arrivals of one order, oldest first. */
  arrivalsOf(orderId: string): readonly Arrival[];
  /** The first, when it is there. */
  arrived(orderId: string): Promise<Arrival>;
  /** Serves these words as a page of the shop, and answers its address. */
  publish(page: string): string;
};

const thanks = `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<h1>Back in the shop</h1>`;

export async function startShop(t: Test): Promise<Shop> {
  const arrivals: Arrival[] = [];
  const pages = new Map<string, string>();
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const arrivalsOf = (orderId: string) =>
    arrivals.filter(({ fields }) => fields["orderid"] === orderId);
  return {
    url,
    arrivals,
    arrivalsOf,
    arrived: (orderId) => until(`${orderId} is back in the shop`, () => arrivalsOf(orderId)[0]),
    publish(page) {
      const path = `/page-${pages.size + 1}`;
      pages.set(path, page);
      return url + path;
    },
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    if (request.method === "POST") {
      const fields = Object.fromEntries(new URLSearchParams(await text(request)));
      arrivals.push({ path, fields });
    }
    const page = pages.get(path) ?? thanks;
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
  }
}
