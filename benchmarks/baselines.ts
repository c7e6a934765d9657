/**
 * The baselines with which the gateway is compared, and a merchant's receiver of callbacks. Each
 * runs in its own process, for which this file is started.
 */
import { type AddressInfo, createServer } from "node:net";
import { FormFault, parseForm } from "@tollgate/protocols/form";
import { fastify } from "fastify";
import { Client } from "pg";
import { offer } from "./parts.ts";

export type BaselineJobs = {
  /** Counts the single-row transactions that the same driver makes at the same server. */
  readonly insert: readonly [InsertJob, Inserted];
  /** A bare route of Fastify: reads the form of a sale, answers a short text. */
  readonly listenRoute: readonly [undefined, { readonly port: number }];
  /** A merchant that answers callbacks at once. */
  readonly listenReceiver: readonly [undefined, { readonly port: number }];
  /** Keeps a core busy until this process ends. */
  readonly burn: readonly [undefined, undefined];
};

type Inserted = {
  readonly count: number;
  readonly tookMs: number;
  /** The duration of each transaction, if there is one connection. */
  readonly eachMs: readonly number[];
};

type InsertJob = {
  readonly databaseUrl: string;
  readonly connections: number;
  readonly seconds: number;
};

offer<BaselineJobs>({ insert, listenRoute, listenReceiver, burn });

const database = "benchmark";
/** About the size of an order's row. */
const bodyBytes = 600;
const body = JSON.stringify({ text: "x".repeat(bodyBytes - '{"text":""}'.length) });
const statement = "insert into written (id, name, body) values ($1, $2, $3)";
const table =
  "create table written (id bigint primary key, name text not null, body json not null)";

let clients: readonly Client[] = [];
let next = 0;

async function insert({ databaseUrl, connections, seconds }: InsertJob) {
  if (clients.length === 0) clients = await openAll(databaseUrl, connections);
  const used = clients.slice(0, connections);
  const before = next;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const eachMs: number[] = [];
  await Promise.all(
    used.map(async (client) => {
      for (let now = startedAt; now < endsAt; ) {
        await insertRow(client);
        const doneAt = performance.now();
        if (connections === 1) eachMs.push(doneAt - now);
        now = doneAt;
      }
    }),
  );
  return { count: next - before, tookMs: performance.now() - startedAt, eachMs };
}

/**
 * Opens the connections. Each prepares the statement and warms up before the clock first starts.
 */
async function openAll(databaseUrl: string, connections: number): Promise<readonly Client[]> {
  const url = await makeDatabase(databaseUrl);
  const opened = await Promise.all(Array.from({ length: connections }, () => open(url)));
  await opened[0]?.query(`drop table if exists written; ${table}`);
  for (const client of opened) await insertRow(client);
  return opened;
}

async function insertRow(client: Client): Promise<void> {
  next += 1;
  await client.query({ name: "insert", text: statement, values: [next, `row ${next}`, body] });
}

/**
 * Makes a separate database on the gateway's server, so that no table of the gateway is touched.
 */
async function makeDatabase(databaseUrl: string): Promise<string> {
  const client = await open(databaseUrl);
  const known = await client.query("select 1 from pg_database where datname = $1", [database]);
  if (known.rowCount === 0) await client.query(`create database ${database}`);
  await client.end();
  return databaseUrl.replace(/\/[^/]*$/, `/${database}`);
}

async function open(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

async function listenRoute() {
  const server = fastify();
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });
  server.post("/gw/api/v2/sale/:id", async ({ body }, reply) => {
    const form = body instanceof Uint8Array ? parseForm(body) : undefined;
    if (form === undefined || form instanceof FormFault) return reply.code(400).send("no form");
    return `type=async-response&gw-order-id=${form.pairs.length}`;
  });
  await server.listen({ host: "127.0.0.1", port: 0 });
  // The address of a listening TCP server is never a path.
  return { port: (server.server.address() as AddressInfo).port };
}

/**
 * Listens as a receiver with minimal HTTP, like the load generator, so that its cost does not count
 * as the gateway's.
 */
async function listenReceiver() {
  const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK";
  const requestEnd = "\r\n\r\n";
  const server = createServer({ noDelay: true }, (socket) => {
    let received = "";
    socket.setEncoding("latin1");
    socket.on("error", () => socket.destroy());
    // A callback is a GET without a body.
    socket.on("data", (text) => {
      received += text;
      for (let end = received.indexOf(requestEnd); end >= 0; end = received.indexOf(requestEnd)) {
        received = received.slice(end + requestEnd.length);
        socket.write(answer);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port };
}

const burnMs = 20;

async function burn(): Promise<undefined> {
  const until = performance.now() + burnMs;
  while (performance.now() < until);
  // Between two turns it can receive that the benchmark has ended.
  setImmediate(burn);
  return undefined;
}
